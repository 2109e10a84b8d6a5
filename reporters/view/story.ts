import type { Story, StoryStep } from '../../harness/report/index.ts'
import { shortened } from '../escape/visible.ts'
import { duration } from './writing.ts'

/** A step of a story as it is read: who it is about, what was sent, what came back. */
export interface ToldStep {
  /** `job A`; undefined if it made none, or read something that the run did not make. */
  readonly job?: string
  readonly sent: string
  readonly received: string
  readonly isReading: boolean
  readonly isWrong: boolean
  /** `12 ms`, since the story began. */
  readonly at: string
}

/** The steps in words: `create a job (as fault)`, `202, job A in_progress`. */
export function toldSteps({ steps }: Story): ToldStep[] {
  return steps.map((step) => {
    const name = step.job === undefined ? undefined : `job ${letter(step.job)}`
    return {
      ...(name !== undefined && { job: name }),
      sent: sentOf(step, name),
      received: receivedOf(step, name),
      isReading: step.kind === 'reading',
      isWrong: step.isWrong === true,
      at: duration(step.sentMs),
    }
  })
}

/** A story on lines, for a terminal: the wrong answer is marked. */
export function storyLines(story: Story): string[] {
  const steps = toldSteps(story)
  const lines = steps.map(
    ({ at, isWrong, received, sent }) =>
      `${at.padStart(8)}  ${sent} → ${received}${isWrong ? '  ✗ this one' : ''}`,
  )
  const { left = 0, leftAfter = 0 } = story
  return left === 0
    ? lines
    : [...lines.slice(0, leftAfter), `          ${left} more`, ...lines.slice(leftAfter)]
}

/** Columns of the lifelines of suite, application and first job. */
const [SUITE, APPLICATION, JOBS] = [11, 45, 59]

/**
 * A story as a sequence diagram of text: two lines a step, on which the lifelines go on.
 * @param wrong paints the answer that is wrong
 */
export function textDiagram(story: Story, wrong: (line: string) => string): string[] {
  const steps = toldSteps(story)
  const jobs = jobsOf(steps)
  const isWide = jobs.length < 3
  const jobAt = (name: string): number => JOBS + jobs.indexOf(name) * (isWide ? 10 : 4)
  const begun = new Set<string>()
  const lifelines = (time = ''): string =>
    [SUITE, APPLICATION, ...[...begun].map(jobAt)].reduce((line, at) => put(line, at, '│'), time)
  const heads = [
    ['suite', SUITE],
    ['application', APPLICATION],
    ...jobs.map((name) => [isWide ? name : name.slice(-1), jobAt(name)] as const),
  ] as const
  const lines = steps.map(({ at, isReading, isWrong, job, received, sent }) => {
    const to = isReading && job !== undefined ? jobAt(job) : APPLICATION
    if (isReading && job !== undefined) begun.add(job)
    const room = to - SUITE - 2
    const asked = put(lifelines(at.padStart(SUITE - 2)), SUITE, `├${arrow(sent, room)}▶`)
    const text = `${isWrong ? '✗ ' : ''}${received}`
    let answer = put(lifelines(), SUITE, `│◀${arrow(text, room)}┤`)
    if (job !== undefined && !begun.has(job)) {
      answer = put(answer, to, `┼${'─'.repeat(jobAt(job) - to - 2)}▶●`)
      begun.add(job)
    }
    return [asked, isWrong ? wrong(answer) : answer]
  })
  const { left = 0, leftAfter = 0 } = story
  const gap = left > 0 ? [[`${' '.repeat(SUITE)}┊ ${left} more`]] : []
  const head = heads.reduce(
    (line, [name, at]) => put(line, at - Math.floor(name.length / 2), name),
    '',
  )
  return [head, ...lines.slice(0, leftAfter), ...gap, ...lines.slice(leftAfter)].flat()
}

function put(line: string, at: number, text: string): string {
  return line.padEnd(at).slice(0, at) + text + line.slice(at + text.length)
}

function arrow(text: string, length: number): string {
  return `─ ${shortened(text, length - 4)} `.padEnd(length, '─')
}

/** The jobs that a story is about, in the order in which they come up. */
export function jobsOf(steps: readonly ToldStep[]): string[] {
  return [...new Set(steps.flatMap(({ job }) => job ?? []))]
}

function letter(job: number): string {
  return job < 26 ? String.fromCharCode(65 + job) : String(job + 1)
}

function sentOf({ isFaulty, kind }: StoryStep, name: string | undefined): string {
  if (kind === 'reading') return `read ${name ?? 'a job'}`
  return isFaulty ? 'create a job, with a fault' : 'create a job'
}

function receivedOf({ kind, state, status, tpe }: StoryStep, name: string | undefined): string {
  if (status === null) return 'no answer'
  const made = kind === 'creation' && name !== undefined ? ` ${name}` : ''
  const said = tpe ?? state ?? ''
  return `${status}${made}${said === '' ? '' : ` ${said}`}`
}
