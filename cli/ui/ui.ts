import { catalogue } from '../../catalogue/catalogue.ts'
import type { Report } from '../../harness/report/model.ts'
import { isObject } from '../../schemas/json-object.ts'
import { UserError } from '../../harness/user-error.ts'
import { addToTarget, takesParts } from './add-to-target.ts'
import type { RunArguments } from '../run/arguments.ts'
import { findTarget } from '../run/find-target.ts'
import { noFacts, reportOf } from '../../harness/engine/run-report.ts'
import { runOptions } from '../run/run-options.ts'
import { createSession, type Session } from '../session/session.ts'
import { createLive } from './board.ts'
import { createModel } from './model.ts'
import { servePage } from './server.ts'

export interface Ui {
  /** The address of the page, with its token. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves the page. The first run begins when it is first opened, so that it is seen from its beginning.
 * @throws UserError if the target file or an option is wrong, or the port cannot be listened on.
 */
export async function startUi(baseUrl: string | undefined, options: RunArguments, port: number): Promise<Ui> {
  const empty = await emptyReport(baseUrl, options)
  const targetFile = takesParts(options.target) ? options.target : undefined
  const model = createModel(empty, {
    targetFile,
    failed: () => session.failed,
    onChange: () => live.changed(),
  })
  const live = createLive((version) => model.patchSince(version))
  const session = createSession(baseUrl, options, model.front)
  let isOpened = false
  const server = await servePage(port, {
    page: () => model.page(),
    sent: (id) => model.sent(id),
    events(response, version) {
      live.open(response, version)
      if (!isOpened) session.run('all', 'the page was opened')
      isOpened = true
    },
    command: async (command) => {
      if (!isObject(command) || typeof command.add !== 'string') return obey(command, session)
      return targetFile === undefined ? 'Nothing can be added here.' : add(targetFile, command.add)
    },
  })
  return {
    url: server.url,
    async close() {
      await session.close()
      live.close()
      await server.close()
    },
  }
}

/** Adds to the target file, whose change is what makes the next run; a sentence if it cannot be done. */
async function add(path: string, part: string): Promise<string | undefined> {
  try {
    return void (await addToTarget(path, part))
  } catch (error) {
    if (error instanceof UserError) return error.message
    return `${path}: cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`
  }
}

/** The report of a run that has sent nothing: what is to be judged, and what is not and why. */
async function emptyReport(baseUrl: string | undefined, options: RunArguments): Promise<Report> {
  // As for a dry run, no embedded reference is started.
  const { close, target } = await findTarget(baseUrl, { ...options, dryRun: true })
  await close()
  const startedAt = new Date()
  const run = runOptions(options, baseUrl, [])
  return reportOf({ target, options: run, startedAt, durationMs: 0, results: new Map(), facts: noFacts })
}

/** Does what a button of the page says: `{"run": "all"}`, `"failed"`, `"stop"`, an id, or a list of ids. */
function obey(command: unknown, session: Session): string | undefined {
  const run = isObject(command) ? command.run : undefined
  if (run === 'stop') return void session.interrupt()
  if (session.isRunning) return 'A run goes on: stop it first.'
  if (run === 'all') return void session.run('all', 'asked for')
  if (run === 'failed') {
    return session.failed > 0 ? void session.run('failed', 'asked for') : 'Nothing failed when it was last judged.'
  }
  const ids: unknown[] = Array.isArray(run) ? run : [run]
  const known: ReadonlySet<unknown> = new Set(catalogue.map(({ id }) => id))
  if (ids.length === 0 || !ids.every((id) => known.has(id))) return 'There is no such requirement.'
  return void session.run(ids as string[], 'asked for')
}
