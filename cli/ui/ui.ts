import { catalogue } from '../../catalogue/catalogue.ts'
import { isObject } from '../../schemas/json.ts'
import { unwritable, UserError } from '../../harness/user-error.ts'
import type { RunArguments } from '../run/arguments.ts'
import { findTarget } from '../run/find-target.ts'
import { noFacts, reportOf } from '../../suites/run-report.ts'
import { createSession, type Session } from '../session.ts'
import { EventEmitter } from 'node:events'
import { createModel } from './model.ts'
import { servePage } from './server.ts'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { applyEdits, modify, parse, type ParseError } from 'jsonc-parser'
import { checkTargetFile } from '../../harness/target/index.ts'
import { followed, writeAtomically } from '../../library/output/files.ts'
import { loadRun } from '../run/one-run.ts'
import { runOptions } from '../run/options.ts'

/**
 * Serves the page. The first run begins when it is first opened, so that it is seen from its beginning.
 * @throws UserError if the target file or an option is wrong, or the port cannot be listened on.
 */
export async function startUi(baseUrl: string | undefined, options: RunArguments, port: number) {
  const { empty, hasKey } = await emptyReport(baseUrl, options)
  await loadRun(options)
  // To a module, which is a program, nothing can be added.
  const targetFile =
    extname(options.target ?? '').toLowerCase() === '.json' ? options.target : undefined
  const model = createModel(empty, {
    hasKey,
    targetFile,
    failed: () => session.failed,
    onChange: () => void changes.emit('changed'),
  })
  const changes = new EventEmitter().setMaxListeners(0)
  const session = createSession(baseUrl, options, model.front)
  let isOpened = false
  const server = await servePage(port, {
    ...model,
    changes,
    opened() {
      if (!isOpened) session.run('all', 'the page was opened')
      isOpened = true
    },
    command: async (command) => {
      if (!isObject(command) || typeof command.add !== 'string')
        return obey(command, session, model.untested)
      return targetFile === undefined ? 'Nothing can be added here.' : add(targetFile, command.add)
    },
  })
  return {
    url: server.url,
    async close(): Promise<void> {
      await session.close()
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
    return unwritable(path, error).message
  }
}

async function emptyReport(baseUrl: string | undefined, options: RunArguments) {
  // As for a dry run, no embedded reference is started.
  const { close, target } = await findTarget(baseUrl, { ...options, dryRun: true })
  await close()
  const startedAt = new Date()
  const run = runOptions(options, baseUrl, [])
  const empty = reportOf({
    target,
    options: run,
    startedAt,
    durationMs: 0,
    results: new Map(),
    facts: noFacts,
  })
  return { empty, hasKey: target.keys.full !== undefined }
}

/** Does what a button of the page says: `{"run": "all"}`, `"failed"`, `"untested"`, `"stop"`, an id, or a list of ids. */
function obey(
  command: unknown,
  session: Session,
  untested: () => readonly string[],
): string | undefined {
  const run = isObject(command) ? command.run : undefined
  if (run === 'stop') return void session.interrupt()
  if (session.isRunning) return 'A run goes on: stop it first.'
  if (run === 'all') return void session.run('all', 'asked for')
  if (run === 'failed') {
    return session.failed > 0
      ? void session.run('failed', 'asked for')
      : 'Nothing failed when it was last judged.'
  }
  const ids: unknown[] = run === 'untested' ? [...untested()] : Array.isArray(run) ? run : [run]
  const known: ReadonlySet<unknown> = new Set(catalogue.map(({ id }) => id))
  if (ids.length === 0 || !ids.every((id) => known.has(id))) return 'There is no such requirement.'
  return void session.run(ids as string[], 'asked for')
}

/** Members that may be added: none that says where else requests go, or what is run or read on this machine. */
const members: Readonly<Record<string, readonly string[]>> = {
  keys: ['command', 'file'],
  resources: ['upload'],
  operations: ['cleanup'],
  scenarios: ['before', 'after'],
}

/**
 * Adds a part to a target file. What is there stays as it is, comments included.
 * @throws UserError if the part is no JSON, holds what is not to be added here, or does not make a right target file.
 */
export async function addToTarget(path: string, part: string): Promise<void> {
  const added = partOf(part)
  const before = readFileSync(path, 'utf8')
  const text = insertInto(before, added, [])
  if (text === before) throw new UserError('The target file declares all of that already.')
  checkTargetFile(parse(text, [], { allowTrailingComma: true }), path)
  await writeAtomically(followed(path), text)
}

function partOf(text: string): Record<string, unknown> {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !isObject(value)) throw new UserError('This is not one object of JSON.')
  const byHand = Object.entries(value).flatMap(([name, of]) => keptOut(name, of))
  if (byHand.length > 0)
    throw new UserError(`${byHand[0]} is not added here: write it into the target file by hand.`)
  return value
}

const entriesOf = (value: unknown): [string, unknown][] =>
  isObject(value) ? Object.entries(value) : []

function keptOut(name: string, values: unknown): string[] {
  if (!Object.hasOwn(members, name)) return [name]
  return entriesOf(values).flatMap(([at, value]) => {
    const named = entriesOf(value).map(([, one]) => one)
    const keys = [...(name === 'keys' ? [value, ...named] : []), isObject(value) && value.key]
    const wrong = [
      ...members[name]!.filter((one) => isObject(value) && Object.hasOwn(value, one)),
      ...members.keys!.filter((one) =>
        keys.some((key) => isObject(key) && Object.hasOwn(key, one)),
      ),
    ]
    return wrong.map((one) => `${name}.${at}.${one}`)
  })
}

function insertInto(
  text: string,
  part: Readonly<Record<string, unknown>>,
  at: readonly string[],
): string {
  return Object.entries(part).reduce((whole, [name, value]) => {
    const path = [...at, name]
    const there = path.reduce<unknown>(
      (of, key) => (isObject(of) && Object.hasOwn(of, key) ? of[key] : undefined),
      parse(whole, [], { allowTrailingComma: true }),
    )
    if (isObject(there) && isObject(value)) return insertInto(whole, value, path)
    if (there !== undefined) return whole
    const edits = modify(whole, path, value, {
      formattingOptions: { insertSpaces: true, tabSize: 2 },
    })
    return applyEdits(whole, edits)
  }, text)
}
