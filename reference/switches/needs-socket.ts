/** Defects that put something else than HTTP on the connection, or end it. */
const ofConnections = /#(?:closed|dropped|no-http|spoils-connection)$/

/**
 * Whether a defect or variant shows on a socket alone, so that `createReference` cannot have it: what happens to
 * connections, and encodings that clients ask for and undo below HTTP. Silence in place of an answer needs none.
 */
export function needsSocket(name: string): boolean {
  return name.startsWith('connection/') || name.startsWith('compressed/') || ofConnections.test(name)
}
