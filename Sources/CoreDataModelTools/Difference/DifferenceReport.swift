import CoreDataModel

/// The result of a comparison, as text and as JSON.
package struct DifferenceReport: Encodable {
    package struct Named: Encodable {
        package var from: String
        package var to: String
    }

    package struct Change: Encodable {
        package var subject: String
        package var change: String
        package var needsMigration: Bool
    }

    package struct Obstacle: Encodable {
        package var kind: String
        package var subject: String
        package var reason: String
    }

    package struct Caution: Encodable {
        package var subject: String
        package var reason: String
    }

    package struct Migration: Encodable {
        package var isNeeded: Bool
        package var canBeInferred: Bool
        package var obstacles: [Obstacle]
        package var cautions: [Caution]
        /// The entities of both models whose version hashes differ.
        package var differingHashes: [String]
    }

    package var from: String
    package var to: String
    package var isSame: Bool
    package var added: [String]
    package var removed: [String]
    package var renamed: [Named]
    package var changes: [Change]
    package var migration: Migration
    private let lines: [String]

    private enum CodingKeys: String, CodingKey {
        case from, to, isSame, added, removed, renamed, changes, migration
    }

    package init(
        from old: (title: String, document: ModelDocument), to new: (title: String, document: ModelDocument)
    ) throws(ModelFailure) {
        let difference = try ModelDifference(from: old.document, to: new.document)
        let sides = (try ModelCompiler.compile(old.document), try ModelCompiler.compile(new.document))
        let inference = MappingInference(
            ModelPairing(old: .init(sides.0, document: old.document), new: .init(sides.1, document: new.document)))
        from = old.title
        to = new.title
        isSame = difference.isEmpty
        added = difference.added
        removed = difference.removed
        renamed = difference.renamed.map { Named(from: $0.old, to: $0.new) }
        changes = difference.changes.map {
            Change(subject: $0.subject, change: $0.text, needsMigration: $0.needsMigration)
        }
        lines = difference.lines
        let differing = sides.1.entities.filter { entity in
            sides.0.entity(named: entity.name).map { $0.versionHash != entity.versionHash } ?? false
        }
        let names = (Set(sides.0.ordinalByName.keys), Set(sides.1.ordinalByName.keys))
        migration = Migration(
            isNeeded: !differing.isEmpty || names.0 != names.1, canBeInferred: inference.isPossible,
            obstacles: inference.obstacles.map {
                Obstacle(kind: $0.kind.rawValue, subject: $0.subject, reason: $0.message)
            },
            cautions: inference.cautions.map { Caution(subject: $0.subject, reason: $0.message) },
            differingHashes: differing.map(\.name).sorted())
    }

    package var text: String {
        var text = ["\(from) → \(to)"]
        if isSame { return text[0] + ": no difference" }
        text += lines.map { "  " + $0 }
        text.append("")
        guard migration.isNeeded else {
            text.append("Version hashes are equal: stores of one open with the other.")
            return text.joined(separator: "\n")
        }
        let hashes = migration.differingHashes
        text.append(
            "Stores must be migrated"
                + (hashes.isEmpty ? "." : ": the version hash differs of \(hashes.joined(separator: ", "))."))
        if migration.canBeInferred {
            text.append("A lightweight migration can be inferred.")
        } else {
            text.append("No lightweight migration can be inferred (error 134190), because")
            text += migration.obstacles.map { "  \($0.subject): \($0.reason) [\($0.kind)]" }
        }
        if !migration.cautions.isEmpty {
            text.append("Mind that")
            text += migration.cautions.map { "  \($0.subject): \($0.reason)" }
        }
        return text.joined(separator: "\n")
    }
}
