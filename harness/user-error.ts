/** A mistake of the user's (command line, target file, environment): one sentence that names the place and the remedy. Exit code 2. */
export class UserError extends Error {
  override readonly name = 'UserError'
}
