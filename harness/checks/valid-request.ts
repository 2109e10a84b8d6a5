import { requirement, grantedRow } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { setAt, getAt } from '../../schemas/pointer.ts'
import { NotExercised } from '../engine/outcome.ts'
import type { Run } from '../engine/run.ts'
import { applyScenario } from './apply-scenario.ts'
import { missingReason } from '../target/declared.ts'
import { effectOf, operationProbe, type ProbeParts } from '../engine/operation-probe.ts'
import type { Probe } from '../engine/probe.ts'
import { upload, uploadProbe, type UploadedFile } from './upload.ts'
import type { ApplicationResource } from '../target/model.ts'

/**
 * The operation's valid request, as the target declares it, fresh each time: what it creates gets a name of its own, a
 * file to be added to a graph is uploaded first. A scenario for the granted requirement is applied to it.
 * Throws `NotExercised` if something is not declared.
 */
export async function validRequest(run: Run, operation: OperationId): Promise<Probe> {
  const scenario = run.target.scenarios[grantedRow[operation]]
  const plain = (): Promise<Probe> => plainRequest(run, operation)
  return scenario
    ? { ...(await applyScenario(run, scenario, operation, plain)), effect: effectOf(run, operation) }
    : plain()
}

/** The operation's valid request without any scenario. */
export async function plainRequest(run: Run, operation: OperationId): Promise<Probe> {
  const missing = missingReason(run.target.file, requirement(grantedRow[operation]).needs)
  if (missing !== undefined) throw new NotExercised(missing)
  for (const { requests } of run.hooks) {
    const make = requests?.[operation]
    if (make) return make(run)
  }
  switch (operation) {
    case 'jobs.create':
      return jobRequest(run, declaredResource(run, 'application'))
    case 'files.upload':
      return uploadProbe(run, contentOf(run))
    case 'files.list':
      return probe(run, operation, {})
    case 'files.retrieve':
      return probe(run, operation, { params: { file_id: declaredResource(run, 'file') } })
    case 'graphs.add-file':
      return probe(run, operation, { params: graphParams(run), json: await freshAddition(run) })
    case 'graphs.query':
      return probe(run, operation, { params: graphParams(run), json: bodyOf(run, operation) })
    case 'chat.create':
      return probe(run, operation, { json: plainChat(run, bodyOf(run, operation)) })
    case 'graphs.create':
    case 'applications.create':
      return namedCreation(run, operation)
    default:
      return probe(run, operation, { json: bodyOf(run, operation) })
  }
}

function probe(run: Run, operation: OperationId, parts: ProbeParts): Promise<Probe> {
  return operationProbe(run, operation, { effect: effectOf(run, operation), ...parts })
}

/** A resource of the target file; throws `NotExercised` if it is not declared. */
export function declaredResource<K extends keyof Run['target']['resources']>(run: Run, name: K) {
  const value = run.target.resources[name]
  if (value === undefined) throw new NotExercised(`declare resources.${name}`)
  return value as NonNullable<typeof value>
}

/** The declared body of an operation whose payload the spec does not show. */
export function bodyOf(run: Run, operation: OperationId): unknown {
  const body = run.target.operations[operation]?.body
  if (body === undefined) throw new NotExercised(`declare operations.${operation}.body`)
  return body
}

/** A creation of a job for that application, with its declared inputs. */
export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  return operationProbe(run, 'jobs.create', { params: { application_id: id }, json: { inputs }, effect: 'generates' })
}

function graphParams(run: Run): Record<string, string> {
  return { graph_id: declaredResource(run, 'graph') }
}

/** The declared content of `files.upload`. */
export function contentOf(run: Run): UploadedFile {
  const content = run.target.operations['files.upload']?.content
  if (content === undefined) throw new NotExercised('declare operations.files.upload.content')
  return content
}

/** The declared body of an addition, with that file. */
export function additionOf(run: Run, id: string, pointer: string): unknown {
  const body = bodyOf(run, 'graphs.add-file')
  return setAt(body, pointer, typeof getAt(body, pointer) === 'number' ? Number(id) : id)
}

/** Each addition adds a freshly uploaded file, if the target declares how to upload one and where the body has its id. */
async function freshAddition(run: Run): Promise<unknown> {
  const body = bodyOf(run, 'graphs.add-file')
  const pointer = run.target.operations['graphs.add-file']?.fields['file']
  // A refusal needs no fresh file, and a run that only reads uploads none.
  if (run.options.readOnly) return body
  if (pointer === undefined || run.target.operations['files.upload']?.content === undefined) return body
  return additionOf(run, await upload(run, contentOf(run)), pointer)
}

/** A chat streams and calls tools only if a requirement is about that. */
function plainChat(run: Run, body: unknown): unknown {
  return withoutRoles(run, body, ['stream', 'stream_options', 'tools', 'tool_choice'])
}

/** A chat's body without the members at those roles. */
export function withoutRoles(run: Run, body: unknown, roles: readonly string[]): unknown {
  const fields = run.target.operations['chat.create']?.fields ?? {}
  const pointers = roles.map((role) => fields[role] ?? `/${role}`)
  return pointers.reduce(
    (plain, pointer) => (getAt(plain, pointer) === undefined ? plain : setAt(plain, pointer, undefined)),
    body,
  )
}

async function namedCreation(run: Run, operation: 'graphs.create' | 'applications.create'): Promise<Probe> {
  const body = bodyOf(run, operation)
  const pointer = run.target.operations[operation]?.fields['name'] ?? '/name'
  const own = getAt(body, pointer)
  const name = `${typeof own === 'string' ? own : 'conform'}${run.objects.suffix()}`
  return { ...(await probe(run, operation, { json: setAt(body, pointer, name) })), creates: name }
}
