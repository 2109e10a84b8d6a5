import type { Members } from './call.ts'

/** A condition that no client can cause, and how it is refused. */
export interface Simulation {
  readonly condition: string
  readonly status: number
  readonly tpe: string
  readonly extras?: Members
  readonly key?: string
}

const blocked = {
  extras: { guardrail_name: 'safety', entity_type: 'PROMPT_ATTACK' },
  key: 'fail.guardrail.blocked',
}

/** By the value of the header `x-simulate`. */
export const simulations: Readonly<Record<string, Simulation>> = {
  quota: { condition: '429-quota-exceeded', status: 429, tpe: 'QuotaExceeded' },
  'internal-error': { condition: '500-internal-error', status: 500, tpe: 'InternalError' },
  crash: { condition: 'general/500-internal-error', status: 500, tpe: 'InternalServerError' },
  maintenance: { condition: 'general/503-unavailable', status: 503, tpe: 'ServiceUnavailable' },
  'backend-down': { condition: '503-unavailable', status: 503, tpe: 'InternalError' },
}

/** By the value of the header `x-guardrail`: guardrails in which something is wrong (§7.3, last row). */
export const guardrails: Readonly<Record<string, Simulation>> = {
  'cloud-filter': { condition: 'guardrails/400-blocked-by-provider', status: 400, tpe: 'BadRequest', ...blocked },
  'revoked-credentials': { condition: 'guardrails/401-provider-credentials', status: 401, tpe: 'BadCredentials' },
  'missing-permissions': {
    condition: 'guardrails/403-provider-permissions',
    status: 403,
    tpe: 'InsufficientAccessRights',
  },
  'broken-provider': { condition: 'guardrails/500-provider-error', status: 500, tpe: 'InternalError' },
  'provider-down': { condition: 'guardrails/503-provider-down', status: 503, tpe: 'InternalError' },
}

export const unknownGuardrail: Simulation = {
  condition: 'guardrails/404-unknown-guardrail',
  status: 404,
  tpe: 'ResourceNotFound',
}
