/**
 * The 17 operations of the interface (§4), as data.
 * `path` is the template that the spec shows; `otherPaths` are the alternatives that it also names.
 */
export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** Path template, parameters in braces, relative to the base URL. */
  readonly path: string
  /** Alternative paths that the spec names for the same operation (§4.4). */
  readonly otherPaths: readonly string[]
  /** `json`: a JSON body is required; `raw`: the bytes of a file; `none`: no body. */
  readonly body: 'json' | 'raw' | 'none'
  /** Section of the spec that shows the operation. */
  readonly section: string
  /** Its answers are generated, and vary: a request that should be granted gets so many tries. */
  readonly tries?: number
  /** It reads an object that the target declares at this pointer, or that the control of another operation makes. */
  readonly reads?: Reads
  /** Each request names a file that is uploaded first, at this role of its body. */
  readonly freshFileAt?: string
}

export interface Reads<Id extends string = string> {
  readonly declaredAt: string
  readonly madeBy: Id
  /** It is looked at until it ends, at last so often, in ms. */
  readonly everyMs: number
}

export const operations = [
  {
    id: 'pdf.parse',
    method: 'POST',
    path: '/v1/tools/pdf-parser/{file_id}',
    otherPaths: [],
    body: 'json',
    section: '4.1',
  },
  {
    id: 'jobs.create',
    method: 'POST',
    path: '/v1/applications/{application_id}/jobs',
    otherPaths: [],
    body: 'json',
    section: '4.2',
  },
  {
    id: 'jobs.retrieve',
    method: 'GET',
    path: '/v1/applications/jobs/{job_id}',
    otherPaths: [],
    body: 'none',
    section: '4.3',
    reads: { declaredAt: '/resources/job', madeBy: 'jobs.create', everyMs: 1000 },
  },
  { id: 'completion.create', method: 'POST', path: '/v1/completion', otherPaths: [], body: 'json', section: '4.4' },
  {
    id: 'chat.create',
    method: 'POST',
    path: '/v1/chat/completions',
    otherPaths: ['/v1/chat'],
    body: 'json',
    section: '4.4',
    tries: 3,
  },
  { id: 'files.upload', method: 'POST', path: '/v1/files', otherPaths: [], body: 'raw', section: '4.4' },
  { id: 'files.list', method: 'GET', path: '/v1/files', otherPaths: [], body: 'none', section: '4.4' },
  { id: 'files.retrieve', method: 'GET', path: '/v1/files/{file_id}', otherPaths: [], body: 'none', section: '4.4' },
  { id: 'graphs.create', method: 'POST', path: '/v1/knowledge-graphs', otherPaths: [], body: 'json', section: '4.4' },
  {
    id: 'graphs.add-file',
    method: 'POST',
    path: '/v1/knowledge-graphs/{graph_id}/files',
    otherPaths: [],
    body: 'json',
    section: '4.4',
    freshFileAt: 'file',
  },
  {
    id: 'graphs.query',
    method: 'POST',
    path: '/v1/knowledge-graphs/{graph_id}/query',
    otherPaths: [],
    body: 'json',
    section: '4.4',
  },
  { id: 'applications.create', method: 'POST', path: '/v1/applications', otherPaths: [], body: 'json', section: '4.4' },
  { id: 'ai-detect.run', method: 'POST', path: '/v1/tools/ai-detect', otherPaths: [], body: 'json', section: '4.4' },
  { id: 'web-search.run', method: 'POST', path: '/v1/tools/web-search', otherPaths: [], body: 'json', section: '4.4' },
  {
    id: 'medical.comprehend',
    method: 'POST',
    path: '/v1/tools/comprehend/medical',
    otherPaths: [],
    body: 'json',
    section: '4.4',
  },
  { id: 'translate.run', method: 'POST', path: '/v1/translate', otherPaths: [], body: 'json', section: '4.4' },
  {
    id: 'vision.analyze',
    method: 'POST',
    path: '/v1/vision/analyze',
    otherPaths: ['/v1/vision'],
    body: 'json',
    section: '4.4',
  },
] as const satisfies readonly Operation[]

export type OperationId = (typeof operations)[number]['id']

/** Operations whose request body is JSON: those that can be sent malformed JSON or a wrong content type. */
export type JsonOperationId = Extract<(typeof operations)[number], { body: 'json' }>['id']

const byId = new Map<string, Operation>(operations.map((operation) => [operation.id, operation]))

/** How often a request that should be granted is sent, if it is not. */
export function triesOf(id: OperationId): number {
  return operation(id).tries ?? 1
}

/** The operation of that id; throws on an id that the spec does not know (a mistake of ours, not of the target). */
export function operation(id: OperationId): Operation {
  const found = byId.get(id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

/** The pointer of the object that an operation reads, if it reads one, and the operation whose control makes one if none is declared. */
export function readsOf(id: OperationId): Reads<OperationId> | undefined {
  return operation(id).reads as Reads<OperationId> | undefined
}

export function isOperationId(id: string): id is OperationId {
  return byId.has(id)
}
