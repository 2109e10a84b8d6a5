import { catalogue, grantedRequirement, isRequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { errorNames } from '../catalogue/errors.ts'
import { firstOperation, operation, readingOperation } from '../catalogue/operations.ts'
import type { Interface } from '../harness/engine/interface.ts'
import type { Judge } from '../harness/engine/check-context.ts'
import { applicationsCreate, jobsCreate, jobsRetrieve } from './jobs.suite.ts'
import { chatCreate } from './chat-create.suite.ts'
import { completionCreate } from './completion-create.suite.ts'
import { envelope } from './envelope.suite.ts'
import { everyOperation, general, guardrails } from './general.suite.ts'
import { filesList, filesRetrieve, filesUpload } from './files.suite.ts'
import { graphsAddFile, graphsCreate, graphsQuery } from './graphs.suite.ts'
import { pdfParse } from './pdf-parse.suite.ts'
import { aiDetectRun, medicalComprehend, translateRun, visionAnalyze, webSearchRun } from './tools.suite.ts'
import { createdHook } from '../harness/checks/created.ts'
import { envelopeHook } from '../harness/checks/envelope-watch.ts'
import { notServedHook } from '../harness/checks/placeholder.ts'
import { settlingHook } from '../harness/checks/settling.ts'
import { createRun, type RunParts } from '../harness/engine/create-run.ts'
import { type Judging, startJudging } from '../harness/engine/judging.ts'
import type { Run, RunOptions } from '../harness/engine/run.ts'
import type { Target } from '../harness/target-file/model.ts'
import { planRun } from './plan.ts'
import { jobsHook } from './jobs/hook.ts'
import { pdfHook } from './pdf-parse/refusals.ts'
import { stateHook } from './takes-state.ts'

/** The AI Content Service interface, as the catalogue has it. */
export const api: Interface = {
  requirements: catalogue,
  requirement: (id) => (isRequirementId(id) ? requirementOf(id) : undefined),
  operation,
  granted: (id) => requirementOf(grantedRequirement[id]),
  first: firstOperation,
  reading: readingOperation,
  anyResponse: 'envelope/shape',
  errors: errorNames,
}

/** Every suite of the interface. */
const suites = [
  everyOperation,
  envelope,
  jobsCreate,
  jobsRetrieve,
  pdfParse,
  completionCreate,
  chatCreate,
  filesUpload,
  filesList,
  filesRetrieve,
  graphsCreate,
  graphsAddFile,
  graphsQuery,
  applicationsCreate,
  aiDetectRun,
  webSearchRun,
  medicalComprehend,
  translateRun,
  visionAnalyze,
  guardrails,
  general,
]

const checks: ReadonlyMap<string, Judge> = new Map<string, Judge>(suites.flat())

/** How a requirement is judged; undefined if no suite says it. */
export function judgeOf(id: string): Judge | undefined {
  return checks.get(id)
}

/** How the run reaches the target and its keys. */
type RunPorts = Omit<RunParts, 'hooks' | 'api' | 'plan'>

const hooks = [envelopeHook, createdHook, notServedHook, jobsHook, pdfHook, settlingHook, stateHook]

/** A run with every suite of the interface; nothing is sent yet. */
export function prepareRun(target: Target, options: RunOptions, ports: RunPorts): Run {
  return createRun(target, options, { ...ports, api, plan: planRun(target, options), hooks })
}

/** Begins to judge. */
export function beginJudging(run: Run): Judging {
  return startJudging(run, judgeOf)
}

/** Judges a target by every suite of the interface. */
export function judgeTarget(target: Target, options: RunOptions, ports: RunPorts): Judging {
  return beginJudging(prepareRun(target, options, ports))
}
