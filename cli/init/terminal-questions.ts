import { cancel, isCancel, log, multiselect, text } from '@clack/prompts'
import { visible } from '../../reporters/escape/visible.ts'
import { UserError } from '../../harness/user-error.ts'
import type { Questions } from './ask-answers.ts'

/** The questions on a terminal. Giving up ends the command; nothing was written by then. */
export const terminalQuestions: Questions = {
  async text(message, { default: standard, problem }) {
    const answer = await text({
      message,
      placeholder: standard,
      defaultValue: standard,
      validate: (value) => (value ? problem?.(value) : undefined),
    })
    return given<string>(answer).trim()
  },
  async choose(message, all, chosen) {
    const answer = await multiselect<string>({
      message,
      options: all.map((value) => ({ value, label: value })),
      initialValues: [...chosen],
      required: false,
    })
    const picked = given<string[]>(answer)
    return all.filter((value) => picked.includes(value))
  },
  tell: (finding) => log.info(visible(finding)),
}

function given<T>(answer: T | symbol): T {
  if (!isCancel(answer)) return answer as T
  cancel('Nothing was written.')
  throw new UserError('conform init: cancelled; nothing was written')
}
