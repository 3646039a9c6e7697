import { CallError, type ConnectionState } from "./connection.js";

export const STATE_WORDS: Readonly<Record<ConnectionState, string>> = {
  connecting: "Connecting to the server …",
  open: "",
  lost: "The server does not answer. The page connects again as soon as it does; nothing needs to be done.",
  refused: "The server answers, but takes no further page: as many are open as it serves, or it is stopping. Close another page of the viewer; this one connects again by itself.",
  "signed out": "The server does not know this browser any more. Load the page again and sign in.",
};

const HELP: Readonly<Record<string, string>> = {
  SESSION_NOT_FOUND: "The session is not there any more: it was deleted, or the server started anew without a journal (--state-dir). Choose another one.",
  PERMISSION_DENIED: "Your token permits viewing, not driving. Ask the administrator of the server for one with the role operator.",
  STEP_MISMATCH: "Somebody else steps this session, too. Fork it, and drive the copy.",
  TENANT_QUOTA: "Your share of the server is used up. Delete a session that is not needed any more.",
};

// What happened, and what can be done.
export function inWords(error: unknown): string {
  if (error instanceof CallError) return HELP[error.reason] ? `${HELP[error.reason]!} (${error.message})` : error.message;
  return error instanceof Error ? error.message : String(error);
}
