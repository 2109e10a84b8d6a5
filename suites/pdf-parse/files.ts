import { faultOfSample } from '../../fixtures/pdf.ts'
import { changed, unknown } from '../../harness/checks/conditions.ts'
import { type Condition, condition } from '../../harness/checks/refusals.ts'
import { sendUntilSettled, uploadsOf } from '../../harness/checks/settling.ts'
import { tpeOf } from '../../harness/engine/answer.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { ownSample, pdfId, type PdfResource } from './pdf-id.ts'

function isBadRequest({ answer }: Exchange): boolean {
  return answer?.status === 400 && tpeOf(answer) === 'BadRequest'
}

type Unusable = Exclude<PdfResource, 'pdfFile'>

/** Whose file it is; of the suite's own also what is wrong with it. */
function describeFile(run: Run, name: Unusable): string {
  const sample = ownSample(run, name)
  if (sample === undefined || sample === 'good') return `resources.${name}`
  return `${sample}.pdf of the suite, a PDF ${faultOfSample[sample]}`
}

/** A file that cannot be parsed in place of the good one. */
export function unusable(name: Unusable, what: string): Condition {
  return condition(async ({ valid, judge, context }) => {
    const { run } = context
    const id = await pdfId(run, name)
    const probe = { ...(await valid()), params: { file_id: id } }
    if (uploadsOf(run).at.has(id)) {
      const send = (again: Probe): Promise<Exchange> => context.send(again, { role: 'setup' })
      await sendUntilSettled(run, await send(probe), send, isBadRequest)
    }
    await judge(probe, `with a valid body, for ${what} (${describeFile(run, name)})`)
  })
}

/** A file that does not exist, and one that does so no longer. */
export const unreachable: Condition = condition(async (refusal) => {
  await unknown('file_id').bringAbout(refusal)
  const { deletedFile } = refusal.context.run.target.resources
  if (deletedFile === undefined) return
  const gone = (probe: Probe): Probe => ({ ...probe, params: { file_id: deletedFile } })
  await changed('with a valid body, for a file that was deleted', gone).bringAbout(refusal)
})
