import { createdHook } from '../harness/checks/created.ts'
import { envelopeHook } from '../harness/checks/judge-observed.ts'
import { notServedHook } from '../harness/checks/placeholder.ts'
import { settlingHook } from '../harness/checks/settling.ts'
import { createRun, type RunParts } from '../harness/engine/create-run.ts'
import { type Judging, startJudging } from '../harness/engine/judging.ts'
import type { Run, RunOptions } from '../harness/engine/run.ts'
import type { Target } from '../harness/target-file/model.ts'
import { judgeOf } from './all.ts'
import { jobsHook } from './jobs/hook.ts'
import { pdfHook } from './pdf-parse/pdf-id.ts'
import { stateHook } from './takes-state.ts'

/** How the run reaches the target and its keys. */
export type RunPorts = Omit<RunParts, 'hooks'>

const hooks = [envelopeHook, createdHook, notServedHook, jobsHook, pdfHook, settlingHook, stateHook]

/** A run with every suite of the interface; nothing is sent yet. */
export function prepareRun(target: Target, options: RunOptions, ports: RunPorts): Run {
  return createRun(target, options, { ...ports, hooks })
}

/** Begins to judge. */
export function beginJudging(run: Run): Judging {
  return startJudging(run, judgeOf)
}

/** Judges a target by every suite of the interface. */
export function judgeTarget(target: Target, options: RunOptions, ports: RunPorts): Judging {
  return beginJudging(prepareRun(target, options, ports))
}
