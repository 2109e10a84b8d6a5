import { type LeftOutBy, isLeftOut, parseReason } from '../../harness/report/reason.ts'
import type { Report, RequirementResult } from '../../harness/report/model.ts'

/** The options that choose what is judged. */
const choosing: readonly LeftOutBy[] = ['--only', '--skip', '--read-only', '--shard']

/** Whether an option left the requirement out, so that nobody wants to know why it was not judged. */
export function isLeftOutByOption(result: RequirementResult): boolean {
  return choosing.some((option) => isLeftOut(result, option))
}

/** How many requirements each option left out: `286 by --only, 3 by --read-only`; undefined if none did. */
export function leftOutSentence({ requirements }: Report): string | undefined {
  const times = new Map<string, number>()
  for (const result of requirements) {
    if (!isLeftOutByOption(result)) continue
    const option = parseReason(result.reason!).detail
    times.set(option, (times.get(option) ?? 0) + 1)
  }
  return times.size === 0 ? undefined : [...times].map(([option, number]) => `${number} by ${option}`).join(', ')
}

/** The summary of what the options left in. */
export function selectedSummary({ requirements, summary }: Report): Report['summary'] {
  const of = (level: 'must' | 'should') => {
    const out = requirements.filter((result) => result.level === level && isLeftOutByOption(result)).length
    return { ...summary[level], notExercised: summary[level].notExercised - out }
  }
  return { must: of('must'), should: of('should') }
}
