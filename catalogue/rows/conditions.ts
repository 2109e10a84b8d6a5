import { staged } from './row.ts'

// prettier-ignore
export const guardrails = [
  staged('guardrails/400-blocked', '7.1, 7.3', 'Input or output that a guardrail blocks is answered 400 GuardrailBlockedError or BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type.'),
  staged('guardrails/400-blocked-by-provider', '7.1, 7.3', "Content that a provider's guardrail blocks is answered 400 BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type."),
  staged('guardrails/401-provider-credentials', '5, 7.3', 'Invalid credentials of a guardrail provider are answered 401 BadCredentials.'),
  staged('guardrails/403-provider-permissions', '7.3', 'Missing permissions at a guardrail provider are answered 403 InsufficientAccessRights.'),
  staged('guardrails/404-unknown-guardrail', '7.3', 'An invalid guardrail id, version or provider address is answered 404 ResourceNotFound.'),
  staged('guardrails/500-provider-error', '7.3', 'A communication error of a guardrail provider is answered 500 InternalError.'),
  staged('guardrails/503-provider-down', '7.3', 'While a guardrail provider is down, a request is answered 503 InternalError.'),
]

// prettier-ignore
export const general = [
  staged('general/409-conflict', '7.2', 'A duplicate resource, version conflict or state conflict is answered 409 with a code name of that status, or a type that the operation lists with it.'),
  staged('general/410-gone', '7.2', 'A resource that was deleted or has expired is answered 410 with a code name of that status, or a type that the operation lists with it.'),
  staged('general/413-payload-too-large', '7.2', 'A request body over the size limits is answered 413 with a code name of that status, or a type that the operation lists with it.'),
  staged('general/422-unprocessable', '7.2', 'A semantically invalid request is answered 422 with a code name of that status, or a type that the operation lists with it.'),
  staged('general/500-internal-error', '7.2', 'A processing issue of the server is answered 500 with a code name of that status, or a type that the operation lists with it.'),
  staged('general/503-unavailable', '7.2', 'Maintenance or high load is answered 503 with a code name of that status, or a type that the operation lists with it.'),
  staged('general/507-insufficient-storage', '7.2', 'An exhausted storage quota is answered 507 with a code name of that status, or a type that the operation lists with it.'),
]
