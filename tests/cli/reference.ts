import { onTestFinished } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { folder, readReport, targetFile } from './conform.ts'
import { conform } from './in-process.ts'

type Options = Parameters<typeof startReference>[0]

/** A reference server for the length of one test, its jobs quick. */
export async function reference(options: Options = {}) {
  const server = await startReference({ jobMs: 15, slowJobMs: 150, ...options })
  onTestFinished(() => server.close())
  return server
}

/** Judges a reference by a target file that fits it, in a folder of the test's own, and reads the report. */
export async function judged(args: string, options: Options = {}) {
  const { url } = await reference(options)
  const cwd = folder()
  const target = targetFile(cwd, url)
  const ended = await conform(`-t ${target} ${args} --report json`, { cwd })
  return { ...ended, cwd, report: readReport(cwd), target, url }
}
