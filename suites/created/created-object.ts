import { countsAsGranted } from '../../harness/checks/control.ts'
import { createdId, twinsOf } from '../../harness/checks/created.ts'
import { accepted, grantedProbe } from '../../harness/checks/granted.ts'
import { additionOf, contentOf, declaredResource, validRequest } from '../../harness/checks/valid-request.ts'
import { operation, type OperationId } from '../../catalogue/operations.ts'
import { isBlock, isBreakdown, isExpected } from '../../harness/engine/response.ts'
import { describeResponse } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { perRun, type Run } from '../../harness/engine/run.ts'
import { answered, type CheckContext, type Judge } from '../../harness/engine/check-context.ts'
import { resendWhile } from '../../harness/checks/settling.ts'
import { at, ofOtherTypes, pointerOf } from '../../harness/checks/roles.ts'
import type { Pairs } from '../../catalogue/pairs.ts'
import { upload, uploadProbe, withOwnContent } from '../../harness/checks/upload.ts'

/** The request that creates the object which a requirement is about: that of the requirement's scenario, if there is one. */
export function ownCreation(context: CheckContext, operation: OperationId): () => Promise<Probe> {
  return grantedProbe(context, operation, () => validRequest(context.run, operation))
}

/** Creates an object for a requirement and gives its id; throws `NotExercised` if that is refused, or no id is named. */
export async function createObject(
  context: CheckContext,
  operation: OperationId,
  make?: () => Promise<Probe>,
): Promise<string> {
  const { run } = context
  const creation = await create(context, make ?? (() => validRequest(run, operation)))
  if (!countsAsGranted(creation)) notCreated(context, creation, 'the creation')
  const id = createdId(run, creation)
  if (id === undefined)
    throw new NotExercised(`the answer names no id at operations.${operation}.fields.id: ${describeResponse(creation)}`)
  return id
}

/** How a creation is refused as a request: for a name that exists, though it is a fresh one, or for whatever else is in it. */
const refusals: readonly unknown[] = [400, 409, 422]
const mostTries = 3

/** True for such a refusal of a creation that names its object. */
function isRefusedByName({ response, probe }: Exchange): boolean {
  const { creates } = probe.operation === null ? {} : operation(probe.operation)
  const isNamed = creates?.name !== undefined && 'role' in creates.name
  return isNamed && refusals.includes(response?.status)
}

/** Sends a creation, each time with a fresh name; a guardrail may meet one of them. */
export async function create(context: CheckContext, make: () => Promise<Probe>): Promise<Exchange> {
  const send = (): Promise<Exchange> => context.send(make, { role: 'setup' })
  return resendWhile(await send(), send, isRefusedByName, mostTries)
}

/** Valid creations of a run that broke the server, were granted with an envelope, or were refused with a fresh name each time. */
const wrongCreations = perRun((): Exchange[] => [])

/** Throws `NotExercised`; what is wrong with the creation itself is told by what is granted. */
export function notCreated({ run, scenario }: CheckContext, creation: Exchange, which: string): never {
  const { response } = creation
  const isWrong =
    response !== undefined && (response.status < 300 || isBreakdown(response) || isRefusedByName(creation))
  if (isWrong && !scenario) wrongCreations(run).push(creation)
  answered(creation)
  throw new NotExercised(`${which} was answered ${describeResponse(creation)}`)
}

/** Notes a valid creation that is answered as if there were already what nobody has made before. */
export function noteRefused({ run }: CheckContext, creation: Exchange, { exists }: Creator): void {
  const { response, unanswered } = creation
  // A file whose id another upload gave as well is not a fresh one.
  if (unanswered || twinsOf(run).found.length > 0) return
  if (response && isExpected(exists, response) && !isBlock(response)) wrongCreations(run).push(creation)
}

/** Not only the control is granted, but each valid creation of the run. */
export const eachAccepted: Judge = async (context) => {
  await accepted(context)
  if (context.scenario) return
  for (const creation of wrongCreations(context.run)) {
    if (creation.probe.operation !== context.requirement.operation) continue
    context.shownBy = creation.purpose.requirement
    context.cases++
    context.fail(creation, '2xx, as another creation was answered', 'with a valid request')
  }
}

/** A name that is no string. Whether one may be absent is not shown. */
export const malformedName = at('name', ofOtherTypes(['number', 'boolean', 'array', 'object']))

/** An operation that makes something which may exist once: a name, a file in a graph. */
export interface Creator {
  readonly operation: OperationId
  /** A creation of something that does not exist yet, fresh each time. */
  fresh(run: Run): Promise<Probe>
  /** Pair that answers the creation of something that exists. */
  readonly exists: Pairs
  /** `a graph`; `the same name`: what may exist once. */
  readonly what: string
  readonly same: string
}

/** Its objects have names, and no two of them one. */
export function named(id: 'graphs.create' | 'applications.create'): Creator {
  return {
    operation: id,
    fresh: (run) => validRequest(run, id),
    exists: [[400, 'BadRequest']],
    what: operation(id).creates?.what ?? 'an object',
    same: 'the same name',
  }
}

/** A file of its own content, freshly uploaded, is added to the declared graph. */
export const additions: Creator = {
  operation: 'graphs.add-file',
  async fresh(run) {
    const pointer = pointerOf(run, 'graphs.add-file', 'file')
    if (pointer === undefined) throw new NotExercised('declare operations.graphs.add-file.fields.file')
    const own = await upload(run, withOwnContent(run, contentOf(run))).catch((error: unknown) => {
      if (!(error instanceof NotExercised) || run.life.ended) throw error
      // A format may refuse what is added to it.
      return upload(run, contentOf(run))
    })
    return addition(run, declaredResource(run, 'graph'), own)
  },
  exists: [[409, 'BadRequest']],
  what: 'a file in a graph',
  same: 'the same file',
}

/** The file that was added last to a graph, if any was. */
export const lastAddition = perRun((): { file?: string } => ({}))

/** An addition of that file to that graph; the declared body if it is not said where a file stands in it. */
export function addition(run: Run, graph: string, file: string): Promise<Probe> {
  const pointer = pointerOf(run, 'graphs.add-file', 'file') ?? ''
  const json = additionOf(run, file, pointer)
  lastAddition(run).file = file
  return operationProbe(run, 'graphs.add-file', { params: { graph_id: graph }, json, effect: 'creates' })
}

/** A creation whose object differs from every other one of the run. */
export async function distinctCreation(run: Run, id: OperationId): Promise<Probe> {
  return id === 'files.upload' ? uploadProbe(run, withOwnContent(run, contentOf(run))) : validRequest(run, id)
}
