import Foundation
import Testing

/// The states that ``CrashStates`` derives from calls.
@Suite struct CrashStatesTests {
    private static func write(_ text: String, to file: Int, at offset: Int = 0) -> RecordedCall {
        RecordedCall(kind: .write, file: file, offset: offset, data: Data(text.utf8))
    }
    private static func create(_ name: String, _ file: Int) -> RecordedCall {
        RecordedCall(kind: .create, file: file, folder: FileTree.root, name: name)
    }
    private static func synchronize(_ file: Int) -> RecordedCall { RecordedCall(kind: .synchronize, file: file) }
    private static func rename(_ name: String, _ file: Int, to other: String) -> RecordedCall {
        RecordedCall(
            kind: .rename, file: file, folder: FileTree.root, otherFolder: FileTree.root, name: name, otherName: other)
    }

    /// What a program leaves that replaces `a`, with the given calls in the end.
    private static let replacements: [(calls: [RecordedCall], expected: Set<String>)] = [
        // Without any synchronisation, also an empty file may have the name.
        ([write("new", to: 3), rename("b", 3, to: "a")], ["old", "", "new"]),
        // The data are safe; whether the rename was, is open.
        ([write("new", to: 3), synchronize(3), rename("b", 3, to: "a")], ["old", "new"]),
        ([write("new", to: 3), synchronize(3), rename("b", 3, to: "a"), synchronize(FileTree.root)], ["new"]),
        // Too late: the name came first.
        ([rename("b", 3, to: "a"), synchronize(FileTree.root), write("new", to: 3)], ["", "new"]),
    ]

    @Test(arguments: replacements)
    func replacedFile(calls: [RecordedCall], expected: Set<String>) {
        var before = FileTree()
        before.apply(Self.create("a", 2))
        before.apply(Self.write("old", to: 2))
        let recorded = RecordedCalls([Self.create("b", 3)] + calls, before: before)
        let crashes = CrashStates(recorded)
        let found = crashes.states(after: recorded.calls.count).map { state in
            crashes.tree(state).contents["a"].map { String(decoding: $0 ?? Data(), as: UTF8.self) } ?? "none"
        }
        #expect(Set(found) == expected)
    }

    @Test func writesAreTorn() {
        let recorded = RecordedCalls(
            [
                Self.create("a", 2), Self.synchronize(FileTree.root),
                Self.write(String(repeating: "x", count: 5000), to: 2),
            ],
            before: FileTree())
        let crashes = CrashStates(recorded)
        let sizes = crashes.states(after: 3).map { crashes.tree($0).files[2]?.count ?? -1 }
        #expect(Set(sizes) == [0, 512, 4096, 5000])
    }

    @Test func acknowledgedStepsAreThoseBeforeTheFailure() {
        let marks = [4, 5].map { RecordedCall(kind: .mark, offset: $0) }
        let crashes = CrashStates(
            RecordedCalls([Self.create("a", 2), marks[0], Self.create("b", 3), marks[1]], before: FileTree()))
        let found = (0...4).map { count in crashes.states(after: count).map(crashes.acknowledged) }
        #expect(found.map { Set($0) } == [[nil], [nil], [4], [4], [5]])
    }

    @Test func laterCallsHaveNoEffectOnLostEntries() {
        var tree = FileTree()
        tree.apply(Self.rename("b", 3, to: "a"))
        #expect(tree.contents.keys.sorted() == ["a"])
        tree.apply(RecordedCall(kind: .unlink, file: 2, folder: FileTree.root, name: "a"))
        #expect(tree.contents.keys.sorted() == ["a"], "the entry is of another file")
        tree.apply(RecordedCall(kind: .resize, file: 3, offset: 3))
        #expect(tree.files[3] == Data(count: 3))
    }
}
