import { execFile, spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Parts of the package that stand in it when it is installed. */
const shipped =
  'package.json cli/bin dist fixtures schemas reporters/html catalogue/readings.md'.split(' ')

export interface Said {
  code: number
  stdout: string
  stderr: string
}

/** Somebody's project: a folder with the compiled package in its node_modules, and the other packages of this repository. */
export type Project = ReturnType<typeof projectIn>

export function makeProject(files: Readonly<Record<string, string>> = {}): Project {
  const dir = mkdtempSync(join(tmpdir(), 'conform-project-'))
  const modules = join(dir, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.vite' && name !== '.cache')
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  const installed = join(modules, 'ai-content-conformance')
  for (const path of shipped) cpSync(join(root, path), join(installed, path), { recursive: true })
  const project = projectIn(dir, modules)
  project.write({ 'package.json': '{"private": true, "type": "module"}', ...files })
  return project
}

/** The project as seen from that folder of it, with the packages of that node_modules. */
export function projectIn(dir: string, modules: string) {
  return {
    dir,
    write(more: Readonly<Record<string, string>>) {
      for (const [path, text] of Object.entries(more)) {
        mkdirSync(dirname(join(dir, path)), { recursive: true })
        writeFileSync(join(dir, path), text)
      }
    },
    /** Starts a program of node_modules/.bin that goes on. */
    start(program: string, args: readonly string[]) {
      const { PATH = '', HOME = '' } = process.env
      const env = { PATH, HOME, NO_COLOR: '1' }
      return spawn(join(modules, '.bin', program), args, {
        cwd: dir,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    },
    /** Runs a program of node_modules/.bin, or node itself, to its end. */
    async run(
      program: string,
      args: readonly string[],
      env: Record<string, string> = {},
    ): Promise<Said> {
      const { PATH = '', HOME = '' } = process.env
      const file = program === 'node' ? process.execPath : join(modules, '.bin', program)
      const settings = {
        cwd: dir,
        env: { PATH, HOME, NO_COLOR: '1', CI: '1', ...env },
        maxBuffer: 1e8,
      }
      try {
        return { code: 0, ...(await promisify(execFile)(file, [...args], settings)) }
      } catch (error) {
        return error as Said
      }
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
