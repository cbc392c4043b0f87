import CoreDataToolkit

extension ImportRun {
    /// Runs with a progress bar, and lists skipped records on standard error.
    ///
    /// - Throws: the first failure. Saved batches remain, and the message says how many records that are.
    mutating func runAtTerminal() throws {
        let bar = SharedBar(ProgressBar("Importing", unit: "records"))
        defer { bar.bar.finish() }
        progress = { fraction, records in bar.bar.update(fraction: fraction, count: records) }
        skipped = { failure, count in
            if count <= Self.listedAtTerminal {
                Terminal.note("skipped: \(failure)")
            } else if count == Self.listedAtTerminal + 1 {
                Terminal.note("skipped: more records are invalid; they are counted, not listed")
            }
        }
        do { try run() } catch {
            bar.bar.finish()
            let saved = Grouped.text(summary.records, "record before it stays", many: "records before it stay")
            let rest = summary.records == 0 ? "Nothing was imported." : "\(saved) imported."
            throw ToolFailure("\(ErrorText.describe(error))\n\(rest)")
        }
    }

    /// The maximum number of invalid records that are listed; others are only counted.
    private static var listedAtTerminal: Int { 20 }

    /// Prints the fields and `--map` options without effect, and the relationships whose objects could not be
    /// identified.
    func noteLeftOut() {
        for plan in builders.plans {
            for (field, count) in plan.ignoredFields.sorted(by: { $0.key < $1.key }) {
                let names = Array(plan.entity.propertiesByName.keys)
                Terminal.note(
                    "note: the field '\(field)' of \(Grouped.text(count, "record")) was left out: no property has that name"
                        + Suggestion.text(for: field, among: names))
            }
            for field in plan.unusedMaps {
                Terminal.note("note: --map \(field)=… was for nothing: no record has the field '\(field)'")
            }
        }
        for name in builders.plans.reduce(into: Set<String>(), { $0.formUnion($1.unidentified) }).sorted() {
            guard let created = summary.entities[name]?.created, created > 0 else { continue }
            let example = builders.entity(named: name).flatMap(UniqueAttributes.example)
            Terminal.note(
                "note: made \(Grouped.text(created, "object")) of \(name) without looking for existing ones, because nothing tells them apart"
                    + (example.map { "; --unique \($0) does" } ?? ""))
        }
        let missing = summary.missing
        guard !missing.isEmpty else { return }
        Terminal.note(
            """
            note: left out \(Grouped.text(missing.count, "relationship")) to objects that are neither in the file nor in the \
            store: \(missing.prefix(3).joined(separator: ", "))\(missing.count > 3 ? ", …" : "")
            """)
    }
}

/// A progress bar that a closure can update.
private final class SharedBar {
    var bar: ProgressBar

    init(_ bar: ProgressBar) { self.bar = bar }
}
