/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object, as in `_meta` and raw tool input. */
export type JsonObject = { readonly [key: string]: Json };

/** Opaque data that passes through unread, at most {@linkcode LIMITS.metaBytes} encoded. */
export type Meta = JsonObject;
