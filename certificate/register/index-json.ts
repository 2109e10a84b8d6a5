import { json } from '../../reporters/escape/json.ts'
import { operationCount } from '../operations.ts'
import type { Registered } from './read-folder.ts'
import { certificateName, type Service } from './services.ts'

export const REGISTER_FORMAT = 'conform-register/1'

/** The register for machines. `files` are all that belong to it, so that it can be built again in the same place. */
export function indexJson(services: readonly Service[], files: readonly string[], now: Date): string {
  const listed = services.map((service) => ({
    name: service.name,
    uri: service.uri,
    page: `services/${service.slug}/`,
    badge: `services/${service.slug}/badge.svg`,
    ...standing(service.current),
    certificates: service.certificates.map((one) => ({
      id: one.id,
      file: `services/${service.slug}/${certificateName(one)}`,
      ...standing(one),
    })),
  }))
  const register = { format: REGISTER_FORMAT, builtAt: now.toISOString(), services: listed, files: [...files].sort() }
  return `${json(register, 2)}\n`
}

function standing({ status, revocation, signedBy, statement: { predicate } }: Registered) {
  const { verdicts, partial, operations, run, issuedAt, expiresAt } = predicate
  return {
    status,
    revoked: revocation ? { day: revocation.day, reason: revocation.reason } : null,
    verdict: verdicts.exact,
    tpe: run.tpe,
    partial,
    operations: { ...operations, of: operationCount },
    judgedAt: run.startedAt,
    issuedAt,
    expiresAt,
    signedBy,
  }
}
