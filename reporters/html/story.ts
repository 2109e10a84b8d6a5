import type { Story } from '../../harness/report/index.ts'
import { htmlAttribute, htmlText } from '../escape/html.ts'
import { shortened } from '../escape/visible.ts'
import { jobsOf, storyLines, toldSteps } from '../view/story.ts'

/** Places of the lifelines and of the first step, and the height of a step, in pixels. */
const [SUITE, APPLICATION, JOBS] = [40, 330, 470]
const [TOP, STEP, GAP] = [44, 46, 24]
const JOB_WIDTH = 90
const LONGEST = 34

/** What happened, as a sequence diagram: suite, application and jobs as lifelines, the wrong answer in red. */
export function storyDiagram(story: Story): string {
  const steps = toldSteps(story)
  const jobs = jobsOf(steps)
  const { left = 0, leftAfter = 0 } = story
  const yOf = (at: number): number => TOP + at * STEP + (left > 0 && at >= leftAfter ? GAP : 0)
  const height = yOf(steps.length)
  const width = JOBS + Math.max(jobs.length, 1) * JOB_WIDTH
  const jobAt = (name: string): number => JOBS + jobs.indexOf(name) * JOB_WIDTH
  const rows = steps.map(({ at, isReading, isWrong, job, received, sent }, index) => {
    const y = yOf(index)
    // A job begins with the answer that made it; a reading asks the job itself.
    const to = isReading && job !== undefined ? jobAt(job) : APPLICATION
    const begins =
      !isReading && job !== undefined
        ? `<path class="to" d="M${APPLICATION} ${y + 30}H${jobAt(job) - 6}"/><circle cx="${jobAt(job)}" cy="${y + 30}" r="4"/>`
        : ''
    return `<g${isWrong ? ' class="f"' : ''}><path class="to" d="M${SUITE} ${y + 12}H${to - 4}"/><path class="tip" d="M${to} ${y + 12}l-7 -4v8z"/><text x="${SUITE + 8}" y="${y + 7}">${htmlText(`${sent}, ${at}`)}</text><path class="back" d="M${to} ${y + 30}H${SUITE + 4}"/><path class="tip" d="M${SUITE} ${y + 30}l7 -4v8z"/><text x="${SUITE + 8}" y="${y + 26}">${isWrong ? '✗ ' : ''}${htmlText(shortened(received, LONGEST))}</text>${begins}</g>`
  })
  const line = (x: number, name: string): string =>
    `<text class="who" x="${x}" y="18" text-anchor="middle">${htmlText(name)}</text><path class="life" d="M${x} 26V${height}"/>`
  const gap =
    left > 0
      ? `<text class="who" x="${SUITE + 8}" y="${yOf(leftAfter) - 8}">${left} more</text>`
      : ''
  const heads = [
    line(SUITE, 'suite'),
    line(APPLICATION, 'application'),
    ...jobs.map((job) => line(jobAt(job), job)),
  ]
  const label = htmlAttribute(
    `What happened: ${storyLines(story)
      .map((one) => one.trim())
      .join('; ')}`,
  )
  return `<h4>What happened</h4><div class="scroll story" role="group" aria-label="What happened" tabindex="0"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">${heads.join('')}${gap}${rows.join('')}</svg></div>`
}
