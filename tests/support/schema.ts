import { Ajv2020, type ErrorObject, type Format, type ValidateFunction } from "npm:ajv@8.20.0/dist/2020.js";
import published from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };

/** Which side of the connection handles a method. */
export type Side = "agent" | "client";

/** What part of an exchange a value is. */
export type Part = "Request" | "Response" | "Notification";

interface Schema {
  readonly [keyword: string]: unknown;
}

/** Keywords whose value is one schema that describes another value than the one at hand. */
const VALUES = ["items", "additionalProperties"];
/** Keywords whose value is a list of schemas that describe the value at hand. */
const PARTS = ["allOf", "anyOf", "oneOf"];
/** Keywords that say something about a value: a schema without any is open on purpose. */
const SAYING = ["type", "$ref", "properties", ...PARTS];
/** How many of the complaints about one value are worth reading. */
const SHOWN = 4;

/**
 * ACP's own schema with every object closed: an unknown property is refused everywhere but in `_meta`, and the branches that
 * exist for messages of later versions (`other`) are left out.
 */
export class ProtocolSchema {
  #ajv: Ajv2020;
  #names = new Map<string, string>();
  #compiled = new Map<string, ValidateFunction>();

  /** Closes the published definitions; each is compiled when it is first asked for. */
  constructor() {
    const defs = published.$defs as Record<string, Schema>;
    const closed: Record<string, Schema> = {};
    for (const [name, schema] of Object.entries(defs)) {
      closed[name] = closePart(schema);
      const part = /(Request|Response|Notification)$/.exec(name)?.[1];
      if (part === undefined || typeof schema["x-method"] !== "string") continue;
      const sides = schema["x-side"] === "protocol" ? ["agent", "client"] : [schema["x-side"]];
      for (const side of sides) this.#names.set(`${side} ${schema["x-method"]} ${part}`, name);
    }
    this.#ajv = new Ajv2020({ strict: false, discriminator: true, formats: FORMATS });
    this.#ajv.addSchema({ $id: "acp", $defs: closed });
  }

  /** Whether v1 knows this method on this side as a request or a notification. */
  knows(side: Side, method: string, part: Part): boolean {
    return this.#names.has(`${side} ${method} ${part}`);
  }

  /** What is wrong with params or a result; empty where nothing is. `side` is the one that handles the method. */
  check(side: Side, method: string, part: Part, value: unknown): readonly string[] {
    const name = this.#names.get(`${side} ${method} ${part}`);
    if (name === undefined) return [`"${method}" is no ${part.toLowerCase()} that the ${side} handles`];
    return this.#complaints(name, value);
  }

  /** What is wrong with a JSON-RPC error object. */
  checkError(value: unknown): readonly string[] {
    return this.#complaints("Error", value);
  }

  #complaints(name: string, value: unknown): readonly string[] {
    let validate = this.#compiled.get(name);
    if (validate === undefined) {
      validate = this.#ajv.compile(closeValue({ $ref: `acp#/$defs/${name}` }));
      this.#compiled.set(name, validate);
    }
    if (validate(value)) return [];
    return [`${name}${told(validate.errors ?? []).join("; ")}`];
  }
}

/** JSON Schema's own formats say nothing about numbers; ACP's integer formats do. */
const FORMATS: Record<string, Format> = {
  int32: integer(-(2 ** 31), 2 ** 31 - 1),
  int64: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  uint16: integer(0, 2 ** 16 - 1),
  uint32: integer(0, 2 ** 32 - 1),
  uint64: integer(0, Number.MAX_SAFE_INTEGER),
  double: { type: "number", validate: Number.isFinite },
  uri: (text: string) => URL.canParse(text),
};

function integer(least: number, most: number): Format {
  return {
    type: "number",
    validate: (value: number) => Number.isInteger(value) && value >= least && value <= most,
  };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema that describes a whole value: what none of its parts names is refused. */
function closeValue(schema: Schema): Schema {
  const closed = closePart(schema);
  if (!SAYING.some((keyword) => keyword in closed) || "additionalProperties" in closed) return closed;
  return { ...closed, unevaluatedProperties: false };
}

/** A schema that others add to: its own top level stays open, what lies below is closed. */
function closePart(schema: Schema): Schema {
  const closed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties" && isSchema(value)) {
      closed[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, closeValue(property as Schema)]),
      );
    } else if (PARTS.includes(keyword) && Array.isArray(value)) {
      const kept = (value as Schema[]).filter((part) => String(part.title).toLowerCase() !== "other");
      // A tag lets a complaint speak of the one branch that was meant. Beside properties of its own ajv would forget
      // those in every branch but the first.
      const tag = "properties" in schema ? undefined : tagOf(kept);
      if (tag !== undefined) closed.discriminator = { propertyName: tag };
      closed[tag === undefined ? keyword : "oneOf"] = kept.map(closePart);
    } else if (VALUES.includes(keyword) && isSchema(value)) {
      closed[keyword] = closeValue(value);
    } else if (keyword !== "discriminator") {
      closed[keyword] = value;
    }
  }
  return closed;
}

/** The property that tells all branches apart, where there is one. */
function tagOf(branches: readonly Schema[]): string | undefined {
  const tags = branches.map((branch) => {
    const properties = (branch.properties ?? {}) as Record<string, Schema>;
    const names = Object.keys(properties).filter((name) => properties[name]?.const !== undefined);
    const required = (branch.required ?? []) as string[];
    return names.length === 1 && required.includes(names[0] ?? "") ? names[0] : undefined;
  });
  return branches.length > 1 && new Set(tags).size === 1 ? tags[0] : undefined;
}

/** The complaints that lie deepest are about the branch that was meant; those about other branches are noise. */
function told(errors: readonly ErrorObject[]): readonly string[] {
  const real = errors.filter((error) => error.keyword !== "const" && !PARTS.includes(error.keyword));
  const chosen = real.length > 0 ? real : errors;
  const depth = (error: ErrorObject) => error.instancePath.split("/").length;
  const deepest = Math.max(...chosen.map(depth));
  const lines = chosen.filter((error) => depth(error) === deepest).map((error) => {
    const detail = error.params.unevaluatedProperty ?? error.params.additionalProperty ??
      error.params.allowedValue ?? "";
    return `${error.instancePath}: ${error.message}${detail === "" ? "" : ` "${detail}"`}`;
  });
  return [...new Set(lines)].slice(0, SHOWN);
}
