import type { Call } from './call.ts'
import { guardrails, simulations, unknownGuardrail, type Simulation } from './simulations.ts'
import { countUp } from './world.ts'

/** Requests that a rate bucket grants. */
const bucketSize = 5

function refuse(call: Call, { condition, status, tpe, ...details }: Simulation): void {
  call.refuse(condition, status, tpe, details)
}

/** Conditions that a request asks for by header: `x-simulate`, `x-guardrail`, `x-rate-bucket` (a limit really reached). */
export function simulate(call: Call): void {
  const asked = call.request.header('x-simulate')
  if (asked !== undefined) {
    const simulation = simulations[asked]
    if (!simulation) call.reject(400, 'BadRequest', `x-simulate knows no ${asked}`)
    refuse(call, simulation)
  }
  const guardrail = call.request.header('x-guardrail')
  if (guardrail !== undefined) refuse(call, guardrails[guardrail] ?? unknownGuardrail)
  const bucket = call.request.header('x-rate-bucket')
  if (bucket !== undefined && countUp(call.world, `bucket ${bucket}`) > bucketSize) {
    call.refuse('429-quota-exceeded', 429, 'QuotaExceeded')
  }
}
