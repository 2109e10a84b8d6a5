import { NotExercised } from '../harness/engine/outcome.ts'
import type { Judge } from '../harness/engine/story.ts'

/** Stands where a requirement has its row and not yet its check. */
export const notYet: Judge = async () => {
  throw new NotExercised('no check yet')
}
