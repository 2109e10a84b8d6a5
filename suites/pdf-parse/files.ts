import { type Condition, condition } from '../../harness/checks/refusals.ts'
import { pdfId, type PdfResource } from './pdf-id.ts'
import { askSettled, uploadsOf } from '../../harness/checks/settling.ts'
import { tpeOf } from '../../harness/engine/answer.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { Probe } from '../../harness/engine/probe.ts'

function isBadRequest({ answer }: Exchange): boolean {
  return answer?.status === 400 && tpeOf(answer) === 'BadRequest'
}

/** A file that cannot be parsed in place of the good one. */
export function unusable(name: Exclude<PdfResource, 'pdfFile'>, what: string): Condition {
  return condition(async ({ valid, judge, story }) => {
    const id = await pdfId(story.run, name)
    const probe = { ...(await valid()), params: { file_id: id } }
    if (uploadsOf(story.run).at.has(id)) {
      const look = (again: Probe): Promise<Exchange> => story.ask(again, { role: 'setup' })
      await askSettled(story.run, await look(probe), look, isBadRequest)
    }
    await judge(probe, `with a valid body, for ${what}`)
  })
}
