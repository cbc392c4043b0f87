import Foundation

/// Where the numbers come from, so that nobody compares those of two machines.
package struct Machine: Codable {
    package let processor: String
    package let cores: Int
    package let memory: Int
    package let system: String
    package let sqlite: String
    package let date: String

    package init(sqlite: String) {
        processor = Self.field("model name", of: "/proc/cpuinfo") ?? "unknown"
        cores = ProcessInfo.processInfo.processorCount
        memory = Int(ProcessInfo.processInfo.physicalMemory)
        system = ProcessInfo.processInfo.operatingSystemVersionString
        self.sqlite = sqlite
        date = Date.now.formatted(.iso8601.year().month().day())
    }

    package var summary: String {
        "\(processor), \(cores) cores, \(memory >> 30) GiB; \(system); SQLite \(sqlite); \(date)"
    }

    /// The most memory that this process has had in use, in bytes; 0 where the system does not tell.
    package static var peakMemory: Int {
        guard let text = field("VmHWM", of: "/proc/self/status"), let kilobytes = text.split(separator: " ").first
        else { return 0 }
        return (Int(kilobytes) ?? 0) * 1024
    }

    /// How many threads this process has; 0 where the system does not tell.
    package static var threads: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    /// Seconds of processor time that all threads of this process have used.
    package static var processorTime: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// Seconds of processor time that the calling thread has used.
    package static var threadTime: Double { seconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// The kind of processor and the widest vectors that valgrind knows of: libraries choose their code by them.
    package static var instructionSet: String {
        #if arch(x86_64)
            let flags = Set((field("flags", of: "/proc/cpuinfo") ?? "").split(separator: " "))
            return "x86_64" + (["avx2", "avx"].first { flags.contains($0[...]) }.map { " " + $0 } ?? "")
        #elseif arch(arm64)
            return "arm64"
        #else
            return "unknown"
        #endif
    }

    private static func field(_ name: String, of path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }
}
