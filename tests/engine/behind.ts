import { listedTypes } from '../../catalogue/answers.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { createHandlerTransport } from '../../harness/http/handler-transport.ts'
import type { RunOptions } from '../../harness/client/state.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { createReference } from '../../reference/server.ts'
import { judgeAsCommand, type Outcome, terminalOf } from '../hostile/judge-hostile.ts'
import type { JudgeSettings } from '../matrix/judge-reference.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

/** Answers in place of the reference, or with its answer. */
export type Reply = (
  path: string,
  answer: () => Promise<Response>,
  sinceMs: number,
  request: Request,
) => Response | Promise<Response>

/** The 409 that §7.3 gives the operation. */
export const conflict = (operation: OperationId): Response =>
  error(409, listedTypes(operation, 409)[0]!)

export const base = 'http://target.example/base'

interface How extends Partial<RunOptions>, Pick<JudgeSettings, 'change' | 'limits'> {
  readonly baseUrl?: string
  readonly slowJobMs?: number
}

/** Judges the reference behind what may answer in its place; in virtual time. */
export async function judgeBehind(
  reply: Reply,
  how: How = { only: ['files.*', 'envelope/shape'], depth: 'quick' },
): Promise<Outcome & { readonly tookMs: number; terminal(): string }> {
  const { change, limits, baseUrl = base, slowJobMs = 100, ...options } = how
  return inVirtualTime(async () => {
    const reference = createReference({ jobMs: 10, slowJobMs })
    const began = performance.now()
    const handle = (request: Request): Response | Promise<Response> => {
      const { pathname, search } = new URL(request.url)
      const inner = (): Promise<Response> =>
        reference.handle(
          asked(request, reference.url + pathname.slice(new URL(baseUrl).pathname.length) + search),
        )
      return reply(pathname, inner, performance.now() - began, request)
    }
    const transport = createHandlerTransport({ handle: handle as never, baseUrl })
    const settings = { ownKeys: true, transport, options, change, limits }
    const outcome = await judgeAsCommand(baseUrl, settings)
    const tookMs = performance.now() - began
    return { ...outcome, tookMs, terminal: () => terminalOf(outcome) }
  })
}

const asked = (request: Request, url: string): Request =>
  Object.assign(Object.create(request) as Request, { url })

/** The target file without a way to make an application. */
export function withoutApplications({ operations, ...file }: TargetFile): TargetFile {
  const { 'applications.create': _, ...others } = operations ?? {}
  return { ...file, operations: others }
}

export const html = (
  status: number,
  title: string,
  server = 'nginx/1.22.1',
  headers: Record<string, string> = {},
): Response =>
  new Response(
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>${server}</center>\r\n</body>\r\n</html>\r\n`,
    { status, headers: { 'content-type': 'text/html', server, ...headers } },
  )
export const json = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })

/** An error envelope without messages. */
export const error = (status: number, tpe: string, headers?: Record<string, string>): Response =>
  json(status, { tpe, errors: [], extras: {} }, headers)

/** A request is asked for later. */
export const limited = (retryAfter: number): Response =>
  error(429, 'QuotaExceeded', { 'retry-after': String(retryAfter) })
