import { countsAsGranted, historyOf } from '../../harness/journal/index.ts'
import {
  additionOperation,
  operation,
  type OperationId,
  uploadOperation,
} from '../../catalogue/operations.ts'
import {
  accepted,
  additionOf,
  contentOf,
  declaredResource,
  judgeRefused,
  namedId,
  operationIn,
  pointerOf,
  refused,
  resendAsDeclared,
  resendWhile,
  sharedBy,
  upload,
  validRequest,
} from '../../harness/checks/index.ts'
import {
  type Credential,
  type Exchange,
  isBlock,
  isBreakdown,
  isExpected,
  isGranted,
  jsonOf,
  NotExercised,
  operationProbe,
  orElse,
  type Probe,
  type Run,
  wasAnswered,
  withHeader,
} from '../../harness/engine/index.ts'
import { answered, ask, type CheckContext, type Judge } from '../../harness/run/index.ts'
import { getAt } from '../../schemas/json.ts'
import { withCredential } from '../authentication/credentials.ts'
import { invalidForms, malformedForms, noCredential } from '../authentication/key-forms.ts'
import { creatorOf } from './attempts.ts'
import { ownIdRule } from './rules.ts'

export interface Refusal {
  readonly requirement: string
  readonly what: string
  readonly statuses: readonly number[]
  change(valid: Probe): Probe | Promise<Probe>
}

/** Statuses for a wrong body or label. */
export const ofBodies: readonly number[] = [400, 415, 422]

const byKey = (requirement: string, what: string, credential: Credential): Refusal => ({
  requirement,
  what,
  statuses: [Number(requirement.slice(0, 3))],
  change: (valid) => withCredential(valid, credential),
})

/** Refusals without a key, with a malformed, an unknown and the expired key. */
export async function refusedByKey({ keys, target }: Run): Promise<Refusal[]> {
  const full = await keys.fullKey()
  const all = await keys.declared()
  const invalid = full
    ? invalidForms({ full, expired: await keys.expiredKey(), all }).slice(0, 1)
    : []
  const malformed = malformedForms(undefined).filter(({ kind }) => kind === 'no JWT')
  for (const { credential } of [...invalid, ...malformed]) keys.learn(credential)
  return [
    byKey('401-missing-credentials', 'without a key', noCredential),
    ...malformed.map(({ credential, what }) => byKey('401-malformed-key', what, credential)),
    ...invalid.map(({ credential, what }) => byKey('401-invalid-key', what, credential)),
    ...(target.keys.expired
      ? [byKey('401-expired-key', 'with an expired key', await keys.expired())]
      : []),
  ]
}

/** With the restricted key, if declared for the operation. */
export async function refusedByRights(run: Run, operation: OperationId): Promise<Refusal[]> {
  const credential = await orElse(run, () => run.keys.restricted(operation))
  const what = 'with a key that lacks the permission'
  return credential ? [byKey('403-insufficient-rights', what, credential)] : []
}

export const refusedByType: Refusal = {
  requirement: '400-wrong-content-type',
  what: 'labelled text/plain',
  statuses: ofBodies,
  change: (valid) => refused(withHeader(valid, 'content-type', 'text/plain')),
}

export const refusedByGrammar: Refusal = {
  requirement: '400-malformed-json',
  what: 'with a bracket too many',
  statuses: ofBodies,
  change: (valid) => refused({ ...valid, body: `${String(valid.body)}}` }),
}

/** Creates an object for a requirement and returns its id; throws `NotExercised` if refused or without an id. */
export async function createObject(
  context: CheckContext,
  operation: OperationId,
  make = (): Promise<Probe> => validRequest(context.run, operation),
): Promise<string> {
  return namedId(context.run, await create(context, make, 'the creation'))
}

const maxTries = 3

/** Whether a creation is refused for its content: for example its new name as existing. */
function isRefusedByName({ response, probe }: Exchange): boolean {
  const { creates } = probe.operation === null ? {} : operation(probe.operation)
  const isNamed = creates?.name !== undefined && 'role' in creates.name
  return isNamed && [400, 409, 422].includes(response?.status ?? 0)
}

/**
 * Sends a creation, each time with a new name, past guardrails and formats that refuse unique content. Throws
 * `NotExercised` if it is not accepted; the creation's own requirement reports its faults.
 */
export async function create(
  context: CheckContext,
  make: () => Promise<Probe>,
  which: string,
): Promise<Exchange> {
  const { run, scenario } = context
  const send = (one = make): Promise<Exchange> => context.send(one, { role: 'setup' })
  const sent = await resendWhile(await send(), send, isRefusedByName, maxTries)
  const creation =
    sent.probe.operation === uploadOperation && !scenario
      ? await resendAsDeclared(sent, () => send(() => validRequest(run, uploadOperation)))
      : sent
  if (countsAsGranted(creation)) return creation
  const { response } = creation
  const isWrong =
    response !== undefined &&
    (response.status < 300 || isBreakdown(response) || isRefusedByName(creation))
  if (isWrong && !scenario) sharedBy(run).wronglyRefused.push(creation)
  answered(creation)
  throw new NotExercised(`${which} ${wasAnswered(creation)}`)
}

/** Notes a valid creation that crashes the server, or is refused as existing. */
export function noteRefused(context: CheckContext, creation: Exchange): void {
  const { run } = context
  const { response, unanswered } = creation
  // A file whose id another upload returned is not new.
  const isTwin = ownIdRule(historyOf(run), uploadOperation).outcome === 'broken'
  if (unanswered || isTwin || !response || isBlock(response)) return
  const { exists } = creatorOf(operationIn(context))
  if (isBreakdown(response) || isExpected(exists, response))
    sharedBy(run).wronglyRefused.push(creation)
}

/** Judges that the control and every other valid creation of the run are accepted. */
export const eachAccepted: Judge = async (context) => {
  await accepted.judge(context)
  if (!context.scenario) judgeRefused(context)
}

/** A creation of something new: a newly uploaded file is added to the declared graph. */
export async function freshCreation(run: Run, id: OperationId): Promise<Probe> {
  if (id !== additionOperation) return validRequest(run, id)
  if (pointerOf(run, id, 'file') === undefined)
    throw new NotExercised('declare operations.graphs.add-file.fields.file')
  return addition(run, declaredResource(run, 'graph'), await upload(run, contentOf(run)))
}

/** An addition of that file to that graph; the declared body if the place of the file is undeclared. */
export async function addition(run: Run, graph: string, file: string): Promise<Probe> {
  const pointer = pointerOf(run, additionOperation, 'file') ?? ''
  const json = additionOf(run, file, pointer)
  const parts = { params: { graph_id: graph }, json, effect: 'creates' } as const
  return { ...(await operationProbe(run, additionOperation, parts)), creates: file }
}

/** The file that an addition names; undefined if its place in the body is undeclared. */
export function fileIn(run: Run, probe: Probe): string | undefined {
  const pointer = pointerOf(run, additionOperation, 'file')
  return pointer === undefined ? undefined : String(getAt(jsonOf(probe), pointer))
}

/** Retrieves the file of a failed addition, which may be missing. */
export async function lookForFile(run: Run, { probe, response }: Exchange): Promise<void> {
  const isMissing = response?.status === 404 || response?.status === 410
  const file = probe.operation === additionOperation ? fileIn(run, probe) : undefined
  if (!isMissing || file === undefined) return
  if (run.target.absent['files.retrieve'] !== undefined) return
  const retrieval = await operationProbe(run, 'files.retrieve', { params: { file_id: file } })
  // Without an answer, the retrieval shows nothing about the file or the graph.
  await orElse(run, () => ask(run, retrieval, { requirement: null, role: 'poll' }))
}

export const isTaken = ({ response }: Exchange): boolean =>
  response !== undefined && isGranted(response)

export const isConflict = ({ response }: Exchange): boolean => response?.status === 409
