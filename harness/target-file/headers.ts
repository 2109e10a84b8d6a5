/** Headers that frame a message or belong to the connection: the suite sets them itself. */
const framing = [
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
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
 * What is wrong with headers as they are written, each problem with the name of the header.
 * @param insteadOfAuthorization what to do for an Authorization header if the suite sends one of its own
 */
export function headerProblems(
  headers: Readonly<Record<string, unknown>> = {},
  insteadOfAuthorization?: string,
): [name: string, problem: string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (insteadOfAuthorization !== undefined && name.toLowerCase() === 'authorization') {
      return [[name, `is set by the suite itself; ${insteadOfAuthorization}`]]
    }
    if (framing.includes(name.toLowerCase())) return [[name, 'is set by the suite itself; remove it']]
    const problem = typeof value === 'string' ? headerValueProblem(value) : undefined
    return problem === undefined ? [] : [[name, problem]]
  })
}
