import type { Machine } from "../state.ts";

/**
 * The variables that programs need to find their way: no keys and no tokens. An agent behind a Host in a process of its own has these
 * of the editor whose Session it works for, and those that its entry in the configuration names.
 */
const COMMON: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "PWD"],
  ...["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LC_COLLATE"],
  ...["TMPDIR", "TEMP", "TMP"],
  ...["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"],
  ...[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
  ],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "DENO_CERT", "DENO_TLS_CA_STORE"],
  ...["NO_COLOR", "DENO_DIR", "JSR_URL", "NPM_CONFIG_REGISTRY", "NVM_DIR", "VOLTA_HOME", "BUN_INSTALL"],
  ...[
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "ProgramData",
  ],
  ...["ProgramFiles", "ProgramFiles(x86)", "HOMEDRIVE", "HOMEPATH", "USERNAME"],
];

/** Those of them that are set here and may be read. */
export function commonEnvironment(machine: Machine): Readonly<Record<string, string>> {
  return Object.fromEntries(COMMON.flatMap((name) => {
    const value = variableOf(machine, name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** A variable, where it is set and may be read. */
export function variableOf(machine: Machine, name: string): string | undefined {
  const answer = machine.env(name);
  return answer === "denied" ? undefined : answer.value;
}
