import type { OperationId } from '../../catalogue/operations.ts'
import type { Exchange } from '../engine/exchange.ts'
import { describeAnswer } from '../engine/describe.ts'
import { hintsOf } from '../engine/hints.ts'
import type { Run } from '../engine/run.ts'

/** Where the target file names the object of a path parameter. */
function declaredAs(operation: OperationId, parameter: string): string {
  switch (parameter) {
    case 'application_id':
      return 'resources.application.id'
    case 'graph_id':
      return 'resources.graph'
    case 'job_id':
      return 'resources.job'
    default:
      return operation === 'pdf.parse' ? 'resources.pdfFile' : 'resources.file'
  }
}

/** The member of the target file that a refused valid request speaks of, if its answer tells: an object or model that is not known. */
export function memberToCheck(
  run: Run,
  operation: OperationId,
  { answer, probe }: Exchange,
  said: string,
): string | undefined {
  const status = answer?.status
  const [parameter] = Object.keys(probe.params)
  if (parameter !== undefined) return status === 404 || status === 410 ? declaredAs(operation, parameter) : undefined
  const model = run.target.operations[operation]?.fields['model']
  const aboutModel = status === 404 || (status === 400 && /model/i.test(said))
  return model !== undefined && aboutModel ? `operations.${operation}.body${model.replaceAll('/', '.')}` : undefined
}

/** Notes what to check if the valid request was refused for an object or model that the target does not know. */
export function noteUnknown(run: Run, operation: OperationId, exchange: Exchange): string {
  const said = describeAnswer(exchange)
  const member = memberToCheck(run, operation, exchange, said)
  if (member === undefined) return ''
  hintsOf(run).add(member, `${operation} was answered ${said}: check ${member} in the target file`)
  return `: check ${member} in the target file`
}
