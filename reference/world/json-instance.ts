import { isMembers, type Members } from './call.ts'

/** Turns of recursion after which optional members are left out, so that recursive schemas come to an end. */
const deepest = 6

function resolve(root: Members, reference: string): unknown {
  const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return steps.reduce<unknown>((node, step) => {
    return isMembers(node) ? node[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }, root)
}

function text(schema: Members): string {
  const formats: Readonly<Record<string, string>> = {
    'date-time': '2025-01-31T10:00:00Z',
    date: '2025-01-31',
    time: '10:00:00Z',
    uuid: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001',
    email: 'tea@example.com',
    uri: 'https://example.com/',
  }
  const known = formats[String(schema['format'])]
  if (known !== undefined) return known
  const least = Number(schema['minLength'] ?? 0)
  const most = Number(schema['maxLength'] ?? Math.max(3, least))
  return 'tea'.padEnd(least, 'a').slice(0, most)
}

function number(schema: Members, step: number): number {
  const least =
    schema['minimum'] ?? (typeof schema['exclusiveMinimum'] === 'number' ? schema['exclusiveMinimum'] + step : 0)
  const most = schema['maximum'] ?? Infinity
  const unit = Number(schema['multipleOf'] ?? step)
  const value = Math.min(Number(least), Number(most))
  return Number.isInteger(value / unit) ? value : Math.ceil(value / unit) * unit
}

function object(schema: Members, root: Members, depth: number): Members {
  const properties = isMembers(schema['properties']) ? schema['properties'] : {}
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const names =
    depth > deepest ? Object.keys(properties).filter((name) => required.includes(name)) : Object.keys(properties)
  const extra = required.filter((name) => typeof name === 'string' && !(name in properties)) as string[]
  return Object.fromEntries([
    ...names.map((name) => [name, jsonInstance(properties[name], root, depth + 1)] as const),
    ...extra.map((name) => [name, 'tea'] as const),
  ])
}

/** A small value that fits a JSON Schema (of its usual keywords); what a model would generate for it. */
export function jsonInstance(schema: unknown, root: Members = isMembers(schema) ? schema : {}, depth = 0): unknown {
  if (!isMembers(schema) || depth > 4 * deepest) return 'tea'
  if (typeof schema['$ref'] === 'string') return jsonInstance(resolve(root, schema['$ref']), root, depth + 1)
  if ('const' in schema) return schema['const']
  for (const list of ['enum', 'examples']) if (Array.isArray(schema[list])) return schema[list][0]
  if ('default' in schema) return schema['default']
  for (const list of ['anyOf', 'oneOf']) {
    if (Array.isArray(schema[list]))
      return jsonInstance({ ...schema, [list]: undefined, ...schema[list][0] }, root, depth + 1)
  }
  if (Array.isArray(schema['allOf'])) {
    return jsonInstance(
      Object.assign({ ...schema, allOf: undefined }, ...(schema['allOf'] as Members[])),
      root,
      depth + 1,
    )
  }
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  if (type === 'string') return text(schema)
  if (type === 'integer') return number(schema, 1)
  if (type === 'number') return number(schema, schema['exclusiveMinimum'] === undefined ? 1 : 0.5)
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array') {
    const count = Math.max(
      Number(schema['minItems'] ?? 0),
      depth > deepest ? 0 : Math.min(1, Number(schema['maxItems'] ?? 1)),
    )
    return Array.from({ length: count }, () => jsonInstance(schema['items'], root, depth + 1))
  }
  return object(schema, root, depth)
}
