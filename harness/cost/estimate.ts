import type { RunOptions, Plan } from '../run/run.ts'
import type { Target } from '../target/model.ts'
export interface Estimate {
  operation: string
  requests: number
  creations: number
  generations: number
}
export function estimate(_plan: Plan, _target: Target, _options: RunOptions): Estimate[] {
  return []
}
