/** The base URL that paths are put to: in normal form, without a slash at its end. */
export function normalBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

/** Headers that frame a message or belong to the connection: the suite sets them itself. */
const framing = [
  ...['content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['upgrade', 'expect', 'te', 'trailer'],
]

/** Finds what makes a text unfit for a header; undefined if it may be sent. */
export function headerValueProblem(value: string): string | undefined {
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'has a control character'
  if (/[^\u0000-\u007f]/.test(value)) return 'has a character that is not ASCII'
  return undefined
}

/** Finds what makes a text unfit for a key; undefined if it may be sent. */
export function keyProblem(value: string): string | undefined {
  if (value === '') return 'is empty'
  if (value !== value.trim()) return 'begins or ends with a blank'
  return headerValueProblem(value)
}

/**
 * Finds what makes a header unfit to be sent.
 * @param insteadOfAuthorization what to do for an Authorization header if the suite sends one of its own
 */
export function headerProblem(
  name: string,
  value: string,
  insteadOfAuthorization?: string,
): string | undefined {
  const lower = name.toLowerCase()
  if (insteadOfAuthorization !== undefined && lower === 'authorization')
    return `is set by the suite itself; ${insteadOfAuthorization}`
  return framing.includes(lower)
    ? 'is set by the suite itself; remove it'
    : headerValueProblem(value)
}
