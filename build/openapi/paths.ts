import { catalogue, grantedRow } from '../../catalogue/catalogue.ts'
import type { Operation } from '../../catalogue/operation.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { errorResponses } from './errors.ts'
import { type Json, ref } from './json.ts'
import { type Shown, shown } from './shown.ts'

/** The path items of an operation: one for each of its paths. */
export function pathsOf(operation: Operation & { readonly id: OperationId }): [path: string, item: Json][] {
  const { id, method, path, otherPaths } = operation
  const item = operationObject(operation)
  const others = otherPaths.map((other, at): [string, Json] => {
    const description = `Another path of \`${id}\`, which the interface names without more.`
    return [other, { [method.toLowerCase()]: { ...item, operationId: `${id}-${at + 2}`, description } }]
  })
  return [[path, { [method.toLowerCase()]: item }], ...others]
}

function operationObject({ id, path, body, section }: Operation & { readonly id: OperationId }): Json {
  const { summary, description, deprecated, query = [] } = shown[id]
  const parameters = [...pathParameters(path), ...query]
  return {
    operationId: id,
    summary,
    description: [`§${section}.`, description].filter(Boolean).join(' '),
    tags: [id.split('.')[0]],
    ...(deprecated ? { deprecated } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(body, shown[id]),
    responses: { ...success(id, shown[id]), ...errorResponses(id) },
  }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'job_id' ? { type: 'string', format: 'uuid' } : { type: 'string' },
  }))
}

function requestBody(body: Operation['body'], { request }: Shown): Json {
  if (body === 'none') return {}
  const content = body === 'json' ? { 'application/json': { schema: request ? ref(request) : {} } } : { '*/*': {} }
  return { requestBody: { required: true, content } }
}

/** The granted requirement tells the status. Where no payload is shown, any body of any type may come, or none. */
function success(id: OperationId, { response }: Shown): Json {
  const row = catalogue.find((each) => each.id === grantedRow[id])
  if (!row) throw new Error(`no granted requirement of ${id}`)
  const content = response ? { 'application/json': { schema: ref(response) } } : { '*/*': { schema: {} } }
  return { [String(row.gives).toUpperCase()]: { description: row.statement, content } }
}
