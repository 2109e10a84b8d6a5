import { countsAsGranted } from '../../harness/checks/control.ts'
import { createdId } from '../../harness/checks/created.ts'
import { accepted, grantedProbe } from '../../harness/checks/granted.ts'
import { validRequest } from '../../harness/checks/valid-request.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { isBreakdown } from '../../harness/engine/response.ts'
import { describeResponse } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { perRun } from '../../harness/engine/run.ts'
import { answered, type Judge, type CheckContext } from '../../harness/engine/check-context.ts'
import { at, ofOtherTypes } from '../../harness/checks/roles.ts'

/** The request that creates the object which a row is about: that of the row's scenario, if there is one. */
export function ownCreation(context: CheckContext, operation: OperationId): () => Promise<Probe> {
  return grantedProbe(context, operation, () => validRequest(context.run, operation))
}

/** Creates an object for a row and gives its id; throws `NotExercised` if that is refused, or no id is named. */
export async function createObject(
  context: CheckContext,
  operation: OperationId,
  make?: () => Promise<Probe>,
): Promise<string> {
  const { run } = context
  const creation = await context.send(make ?? (() => validRequest(run, operation)), { role: 'setup' })
  if (!countsAsGranted(creation)) notCreated(context, creation, 'the creation')
  const id = createdId(run, creation)
  if (id === undefined)
    throw new NotExercised(`the answer names no id at operations.${operation}.fields.id: ${describeResponse(creation)}`)
  return id
}

/** Valid creations of a run that broke the server, or were granted with an envelope. */
const wrongCreations = perRun((): Exchange[] => [])

/** Throws `NotExercised`; what is wrong with the creation itself is told by what is granted. */
export function notCreated({ run, requirement }: CheckContext, creation: Exchange, which: string): never {
  const { response } = creation
  const isWrong = response !== undefined && (response.status < 300 || isBreakdown(response))
  if (isWrong && !run.target.scenarios[requirement.id]) wrongCreations(run).push(creation)
  answered(creation)
  throw new NotExercised(`${which} was answered ${describeResponse(creation)}`)
}

/** Not only the control is granted, but each valid creation of the run. */
export const eachAccepted: Judge = async (context) => {
  await accepted(context)
  if (context.run.target.scenarios[context.requirement.id]) return
  for (const creation of wrongCreations(context.run)) {
    if (creation.probe.operation !== context.requirement.operation) continue
    context.shownBy = creation.purpose.requirement
    context.cases++
    context.fail(creation, '2xx, as another creation was answered', 'with a valid request')
  }
}

/** A name that is no string. Whether one may be absent is not shown. */
export const malformedName = at('name', ofOtherTypes(['number', 'boolean', 'array', 'object']))
