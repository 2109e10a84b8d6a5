import { type OperationId, operations } from '../catalogue/operations.ts'

/** An operation as a request line names it: its path template and the values of its parameters. */
export interface OperationPlace {
  readonly operation: OperationId
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

const templates = operations.flatMap(({ id, method, path, otherPaths }) =>
  [path, ...otherPaths].map((template: string) => ({ id, method, template, parts: template.split('/') })),
)

/** The operation that this method and path (without base URL and query) name; undefined if the interface has none. */
export function operationAt(method: string, path: string): OperationPlace | undefined {
  const segments = path.split('/')
  for (const { id, method: of, template, parts } of templates) {
    if (method !== of || parts.length !== segments.length) continue
    const params: Record<string, string> = {}
    const fits = parts.every((part, at) => {
      const segment = segments[at] as string
      const name = /^\{(\w+)\}$/.exec(part)?.[1]
      if (name === undefined) return part === segment
      params[name] = decoded(segment)
      return segment !== ''
    })
    if (fits) return { operation: id, path: template, params }
  }
  return undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
