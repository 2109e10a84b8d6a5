import type { Story, StoryStep } from '../../harness/report/index.ts'
import { duration } from './writing.ts'

/** A step of a story as it is read: who it is about, what was sent, what came back. */
export interface ToldStep {
  /** `job A`; undefined if it made none, or read something that the run did not make. */
  readonly job?: string
  readonly sent: string
  readonly received: string
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
