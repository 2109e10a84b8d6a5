import { catalogue, grantedRow } from '../../catalogue/catalogue.ts'
import type { Operation } from '../../catalogue/operation.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { errorResponses } from './errors.ts'
import { requestExample, responseExample } from './examples.ts'
import { type Json, ref } from './json.ts'

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

function operationObject(operation: Operation & { readonly id: OperationId }): Json {
  const { id, section, summary, description, deprecated } = operation
  const parameters = [...pathParameters(operation), ...namedParameters(operation)]
  return {
    operationId: id,
    summary,
    description: [`§${section}.`, description].filter(Boolean).join(' '),
    tags: [id.split('.')[0]],
    ...(deprecated ? { deprecated } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(operation),
    responses: { ...success(operation), ...errorResponses(id) },
  }
}

function namedParameters({ parameters = [] }: Operation): Json[] {
  return parameters.map(({ name, in: place, description }) => ({
    name,
    in: place,
    description,
    schema: { type: 'string' },
  }))
}

function pathParameters({ params = {} }: Operation): Json[] {
  return Object.entries(params).map(([name, { format }]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', ...(format === undefined ? {} : { format }) },
  }))
}

function requestBody({ id, body, request }: Operation & { readonly id: OperationId }): Json {
  if (body === 'none') return {}
  const schema = request ? ref(request.component) : {}
  const content = body === 'json' ? { 'application/json': { schema, example: requestExample(id) } } : { '*/*': {} }
  return { requestBody: { required: true, content } }
}

/** `pdf-content` → `PdfContent` */
function componentOf(schema: string): string {
  return schema.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * The granted requirement tells the status. If no payload is shown, any body of any type may come, or none; it is labelled as
 * JSON, since mock servers can give no example of any type.
 */
function success({ id, response }: Operation & { readonly id: OperationId }): Json {
  const row = catalogue.find((each) => each.id === grantedRow[id])
  if (!row) throw new Error(`no granted requirement of ${id}`)
  const schema = response ? ref(componentOf(response)) : {}
  const content = { 'application/json': { schema, example: responseExample(id) } }
  return { [String(row.gives).toUpperCase()]: { description: row.statement, content } }
}
