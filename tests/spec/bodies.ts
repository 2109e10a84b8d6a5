import { readFileSync } from 'node:fs'
import type { SchemaName } from '../../schemas/validate.ts'

/** The tables of bodies.txt: a body of each schema, and changes of it. */
export const bodyTables = readFileSync(new URL('bodies.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n\n')
  .slice(1)
  .map((table) => {
    const [first = '', ...rows] = table.split('\n')
    const [, name, json = ''] = /^(\S+) (.*)$/.exec(first)!
    return { name: name as SchemaName, json, rows }
  })

/** A body that fits the schema, for tests that need one of it. */
export function bodyOf(name: SchemaName): Record<string, unknown> {
  const table = bodyTables.find((one) => one.name === name)
  return JSON.parse(table!.json) as Record<string, unknown>
}
