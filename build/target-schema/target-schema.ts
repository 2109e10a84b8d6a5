import { readFileSync } from 'node:fs'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { defaultLimits } from '../../harness/target/model.ts'
import { withExamples, type Schema } from './examples.ts'
import { operationSchemas } from './operations.ts'

/** What does not follow from the catalogue: the form of keys, resources, scenarios and limits. */
const form = new URL('./form.json', import.meta.url)

/** The schema of the target file, each member with an example and what it is for, and every id that it may name. */
export function targetSchema(): Schema {
  const schema = JSON.parse(readFileSync(form, 'utf8')) as Schema
  const ids = operations.map(({ id }) => id)
  const member = (name: string, of = schema): Schema => of.properties?.[name] ?? missing(name)
  member('operations').properties = operationSchemas()
  const perOperation = member('restricted', member('keys')).then ?? missing('then')
  perOperation.properties = Object.fromEntries(ids.map((id) => [id, { $ref: '#/$defs/key' }]))
  member('operation', schema.$defs?.['scenario']).enum = ids
  member('scenarios').propertyNames = {
    enum: catalogue.filter(({ operation }) => operation !== 'envelope').map(({ id }) => id),
  }
  for (const [name, value] of Object.entries(defaultLimits)) member(name, member('limits')).default = value
  return withExamples(schema)
}

function missing(name: string): never {
  throw new Error(`form.json has no ${name}`)
}
