import Foundation

/// What a power failure may leave of a folder.
///
/// The power fails after one of the calls. What was synchronised before is left: `fsync` of a file keeps its data and its
/// size, `fsync` of a folder keeps its entries. Any other call may have reached the disk or not.
struct CrashStates {
    private let calls: [RecordedCall]
    private let before: FileTree
    /// For each call, the call that synchronises its effect.
    private let synchronizedBy: [Int]

    /// One possible state.
    struct State: CustomStringConvertible {
        /// The number of calls before the failure.
        var count: Int
        /// The calls that did not reach the disk.
        var lost: Set<Int> = []
        /// A write of which only the first bytes reached the disk.
        var torn: (call: Int, size: Int)?
        var description: String
    }

    init(_ recorded: RecordedCalls) {
        calls = recorded.calls
        before = recorded.before
        var last: [Int: Int] = [:]
        var synchronizedBy = [Int](repeating: .max, count: calls.count)
        for index in calls.indices.reversed() {
            let call = calls[index]
            switch call.kind {
            case .synchronize: last[call.file] = index
            case .write, .resize: synchronizedBy[index] = last[call.file] ?? .max
            case .create, .makeFolder, .unlink, .removeFolder, .link:
                synchronizedBy[index] = last[call.folder] ?? .max
            // The name that is left in the other folder does no harm.
            case .rename: synchronizedBy[index] = last[call.otherFolder] ?? .max
            case .mark, .unknown: synchronizedBy[index] = index
            }
        }
        for index in calls.indices where calls[index].kind == .synchronize { synchronizedBy[index] = index }
        self.synchronizedBy = synchronizedBy
    }

    var count: Int { calls.count }

    /// The number of the last step that had been announced.
    func acknowledged(_ state: State) -> Int? { calls.prefix(state.count).last { $0.kind == .mark }?.offset }

    // MARK: Choices

    /// The states after the first `count` calls.
    ///
    /// - Parameter singles: chooses the calls of which each is lost alone, or reaches the disk alone.
    func states(after count: Int, singles: ([Int]) -> [Int] = { $0 }) -> [State] {
        let open = (0..<count).filter { synchronizedBy[$0] >= count }
        let (data, entries) = (open.filter { isData(calls[$0]) }, open.filter { !isData(calls[$0]) })
        func state(_ name: String, _ lost: some Sequence<Int>) -> State {
            State(count: count, lost: Set(lost), description: "after call \(count), \(name)")
        }
        var states = [state("nothing lost", [])]
        if open.isEmpty { return states }
        states.append(state("everything lost that was not synchronised", open))
        if !data.isEmpty, !entries.isEmpty {
            states.append(state("all data lost, all entries kept", data))
            states.append(state("all entries lost, all data kept", entries))
        }
        for index in open.count > 1 ? singles(open) : [] {
            states.append(state("lost: \(calls[index])", [index]))
            states.append(state("kept alone: \(calls[index])", open.filter { $0 != index }))
        }
        if let last = data.last, calls[last].kind == .write {
            for size in [512, 4096] where size < calls[last].data.count {
                for (name, lost) in [("", []), (" alone", open.filter { $0 != last })] {
                    var torn = state("\(size) bytes of: \(calls[last])\(name)", lost)
                    torn.torn = (last, size)
                    states.append(torn)
                }
            }
        }
        return states
    }

    private func isData(_ call: RecordedCall) -> Bool { call.kind == .write || call.kind == .resize }

    /// The files that a state leaves.
    func tree(_ state: State) -> FileTree {
        var tree = before
        for index in 0..<state.count where !state.lost.contains(index) {
            if let torn = state.torn, torn.call == index {
                var call = calls[index]
                call.data = call.data.prefix(torn.size)
                tree.apply(call)
            } else {
                tree.apply(calls[index])
            }
        }
        return tree
    }
}
