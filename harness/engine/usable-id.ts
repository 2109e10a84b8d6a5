/** Longest id that is put into a path, in UTF-16 units: far above what any server gives, far below what makes a request line. */
const longest = 1024

/**
 * An id that a target gave, if it can be part of the path of a request: not empty, not endless, no lone surrogate (which
 * has no percent-encoding), and neither `.` nor `..`, which would ask for another path, to clean up for instance.
 */
export function usableId(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '' || id.length > longest) return undefined
  return id === '.' || id === '..' || /\p{Cs}/u.test(id) ? undefined : id
}
