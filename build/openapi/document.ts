import { operations } from '../../catalogue/operations.ts'
import { components } from './components.ts'
import type { Json } from './json.ts'
import { pathsOf } from './paths.ts'

const description = `This document has what the interface shows, and no more. Whatever the interface leaves open is open here too: if it shows no payload, the schema allows everything, and additional members are allowed everywhere. The examples of such payloads are made up, and so is their media type: a response that is no JSON is not wrong.

Every error response is the envelope \`Error\`. Each operation lists the statuses that the interface names for it, with the values of \`tpe\` that are possible there; any other status may come as well, as \`default\`.

\`§\` numbers are sections of the description of the interface.`

const tags: Readonly<Record<string, string>> = {
  pdf: 'PDF conversion (§4.1)',
  jobs: 'Application jobs: asynchronous content generation (§4.2, §4.3)',
  completion: 'Text generation (§4.4)',
  chat: 'Chat completion (§4.4)',
  files: 'Files (§4.4)',
  graphs: 'Knowledge graphs (§4.4)',
  applications: 'Applications: no-code agents (§4.4)',
  'ai-detect': 'Detection of generated text (§4.4)',
  'web-search': 'Web search (§4.4)',
  medical: 'Medical text analysis (§4.4)',
  translate: 'Translation (§4.4)',
  vision: 'Analysis of images (§4.4)',
}

/** The interface as OpenAPI 3.1, made from the catalogue and the schemas of this package. */
export function openapiDocument(): Json {
  const paths = withOpenObjects(Object.assign({}, ...pathList()) as Json)
  return {
    openapi: '3.1.0',
    info: { title: 'AI Content Service', version: '1.0', description },
    servers: [
      {
        url: '{base_url}',
        description: 'Wherever the service runs: the interface names no host.',
        variables: { base_url: { default: 'http://127.0.0.1:8080', description: 'Without a slash at its end.' } },
      },
    ],
    security: [{ bearerAuth: [] }],
    tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    paths,
    components: withOpenObjects(usedBy(paths, components())),
  }
}

/** The components without the schemas that nothing leads to. */
function usedBy(paths: Json, all: { readonly schemas: Json }): Json {
  const used = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      follow(all.schemas[name])
    }
  }
  follow(paths)
  return { ...all, schemas: Object.fromEntries(Object.entries(all.schemas).filter(([name]) => used.has(name))) }
}

/** Several operations may share a path. */
function pathList(): Json[] {
  const byPath = new Map<string, Json>()
  for (const operation of operations) {
    for (const [path, item] of pathsOf(operation)) byPath.set(path, { ...byPath.get(path), ...item })
  }
  return [...byPath].map(([path, item]) => ({ [path]: item }))
}

/**
 * The same document, in which an object whose members are not shown says that it may have any: generators take an object
 * without members for one that has none.
 */
function withOpenObjects<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withOpenObjects) as Value
  const members = Object.entries(value).map(([name, one]) => [name, withOpenObjects<unknown>(one)] as const)
  const isBare = 'type' in value && value.type === 'object' && !('properties' in value)
  return Object.fromEntries(isBare ? [...members, ['additionalProperties', true]] : members) as Value
}
