export function normalBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

/** Headers that frame a message or belong to the connection: the suite sets them itself. */
const framing = [
  ...['content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['upgrade', 'expect', 'te', 'trailer'],
]

export function headerValueProblem(value: string): string | undefined {
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'has a control character'
  if (/[^\u0000-\u007f]/.test(value)) return 'has a character that is not ASCII'
  return undefined
}

export function keyProblem(value: string): string | undefined {
  if (value === '') return 'is empty'
  if (value !== value.trim()) return 'begins or ends with a blank'
  return headerValueProblem(value)
}

/**
 * What makes a header invalid, if anything.
 * @param insteadOfAuthorization what to do instead of an Authorization header, if the suite sends one
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
