import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { packageFile, referenceTargetFile } from '../schemas/package-file.ts'
import { loadTargetFile, resolveTarget } from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'
import { listenedOn, type OptionsOf, portOption, reportOption } from './run/arguments.ts'
import { endWith, runBeside } from './run/process.ts'
import { untilSignal } from './guard.ts'
import type { ClientRequests } from './client/judged-server.ts'

export function serveCommand() {
  return new Command('serve')
    .description(
      'run the embedded reference server until interrupted; prints its URL and a target file that fits it',
    )
    .addOption(portOption())
    .option(
      '--judge-client',
      'tell each request that does not keep the interface; exit 1 if there was one',
    )
    .option(
      '--script <file.json>',
      'what to answer before the server does, by operation: {"*": [429, "pass"]}',
    )
    .option('--verbose', 'name all errors that the client did not meet')
    .addOption(reportOption(['json', 'junit', 'markdown']))
    .argument(
      '[command...]',
      'after --: run when the server is ready, with CONFORM_URL, CONFORM_TARGET and CONFORM_API_KEY; it ends with it',
    )
    .action(async (words, options) => {
      await serve(words, options)
    })
}

async function serve(
  words: readonly string[],
  options: OptionsOf<typeof serveCommand>,
): Promise<void> {
  const { judgeClient = false, port, report, script } = options
  if (!judgeClient && report.length > 0) throw new UserError('--report: give --judge-client too')
  const asked =
    judgeClient || script !== undefined
      ? (await import('./client/judged-server.ts')).clientRequests(options)
      : undefined
  const { startReference } = await import('../reference/server.ts')
  const reference = await listenedOn(
    port,
    startReference({ port: asked ? 0 : port, cors: true }, true),
  )
  const interrupted = untilSignal()
  const dir = mkdtempSync(join(tmpdir(), 'conform-serve-'))
  let judged: Awaited<ReturnType<typeof judgedServer>> | undefined
  try {
    judged = asked && (await judgedServer(reference.url, asked, port))
    const { url } = judged ?? reference
    const target = join(dir, 'target.json')
    const file = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as { keys: { full: string } }
    writeFileSync(
      join(dir, 'target.schema.json'),
      readFileSync(packageFile('schemas/target.schema.json')),
    )
    writeFileSync(
      target,
      `${JSON.stringify({ ...file, $schema: './target.schema.json', baseUrl: url }, null, 2)}\n`,
    )
    const people = asked?.people ?? process.stdout
    people.write(`${JSON.stringify({ url, target })}\n`)
    const code = await runBeside(words, interrupted, {
      CONFORM_URL: url,
      CONFORM_TARGET: target,
      CONFORM_API_KEY: file.keys.full,
    })
    await judged?.end()
    endWith(words, code, people)
  } catch (error) {
    await judged?.close()
    throw error
  } finally {
    rmSync(dir, { recursive: true, force: true })
    await reference.close()
  }
}

async function judgedServer(baseUrl: string, asked: ClientRequests, port: number) {
  const { startJudgedServer } = await import('./client/judged-server.ts')
  const { dir, file } = await loadTargetFile(referenceTargetFile)
  const { target } = await resolveTarget(file, { dir, env: process.env, baseUrl })
  return listenedOn(port, startJudgedServer(target, file, asked, port))
}
