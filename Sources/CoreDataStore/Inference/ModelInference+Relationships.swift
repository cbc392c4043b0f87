import CoreDataModel
import Foundation

extension ModelInference {
    // MARK: To-one

    /// Returns the to-one whose foreign key the column is; `nil` if it is a number.
    func toOne(_ column: StoreOutline.Column, _ stem: String, _ table: StoreOutline.Table) -> ToOne? {
        guard column.type == "INTEGER" else { return nil }
        let companions = table.columns.compactMap { other -> Int64? in
            guard case .companion(let entity, let key) = StoreOutline.ColumnName(other.name), key == column.name else {
                return nil
            }
            return entity
        }
        var destination = companions.first { entities[$0] != nil }
        var mirror: String?
        if destination == nil {
            guard let target = target(of: column, stem, table) else { return nil }
            destination = target.entity
            mirror = target.mirror
        }
        guard let destination else { return nil }
        return ToOne(
            table: table.name, column: column.name, name: spelling.relationship(stem),
            source: common(column.holders, in: table), destination: destination,
            isOrderedBack: table.column("Z_FOK_" + column.name.dropFirst()) != nil, mirror: mirror)
    }

    /// Returns the destination of the column, by its values and its name.
    ///
    /// | Evidence | Score |
    /// | --- | --- |
    /// | the column has the name of an entity | 100 |
    /// | its name ends as an entity's does, or an entity's as it does | 60 and more |
    /// | a column there refers back, row by row | 70 |
    /// | all its values are keys there | 10 |
    /// | … of entities that have subentities, though no column tells which of them | -5 |
    ///
    /// Values of a column without an entity's name are evidence only if the column has an index. Without values, only a
    /// complete name counts.
    private func target(
        of column: StoreOutline.Column, _ stem: String, _ table: StoreOutline.Table
    ) -> (entity: Int64, mirror: String?)? {
        let hasIndex = spelling.hasIndex(on: column.name, of: table.name)
        var found: [Candidate] = []
        for place in outline.tables where entities[place.root] != nil {
            let named = spelling.bestEntity(for: stem, among: subtree(of: place.root))
            guard !column.holders.isEmpty else {
                if let named, named.score == 100, hasIndex {
                    found.append(Candidate(score: 100, entity: named.entity))
                }
                continue
            }
            // Missing keys belong to deleted rows; if most are missing, the numbers are not keys.
            guard let target = column.targets.first(where: { $0.table == place.name }), target.misses <= target.hits
            else { continue }
            let mirror = mutual(target, column, table)
            let isNamed = named.map { hasIndex || $0.score == 100 } ?? false
            let common = common(target.entities, in: place)
            let entity = entity(named: isNamed ? named?.entity : nil, holding: common)
            var score = (isNamed ? named?.score ?? 0 : 0) + (mirror == nil ? 0 : 70)
            if target.misses == 0, hasIndex || score > 0 { score += 10 }
            guard score > 0 else { continue }
            if numbers.contains(where: { entities[$0]?.parent == entity }) { score -= 5 }
            found.append(Candidate(score: score, entity: entity, mirror: mirror, target: target))
        }
        found.sort { ($1.score, $0.target?.rowCount ?? 0) < ($0.score, $1.target?.rowCount ?? 0) }
        guard let best = found.first else { return nil }
        if found.count > 1, found[1].score == best.score, !best.isFarLikelier(than: found[1]) { return nil }
        return (best.entity, best.mirror)
    }

    /// An entity that a column may refer to.
    private struct Candidate {
        var score: Int
        var entity: Int64
        var mirror: String?
        var target: StoreOutline.Target?

        /// Returns whether this candidate is much more likely: keys of a large table would rarely all exist in a small
        /// one.
        func isFarLikelier(than other: Candidate) -> Bool {
            guard let target, let rival = other.target, target.rowCount < rival.rowCount else { return false }
            return Double(target.hits) * log(Double(rival.rowCount) / Double(target.rowCount)) > log(1000)
        }
    }

    /// Returns the entity with the name, unless the rows' entities contradict it.
    private func entity(named: Int64?, holding common: Int64) -> Int64 {
        named.flatMap { ancestors(of: common).contains($0) ? $0 : nil } ?? common
    }

    /// Returns the single column that refers back and that this one refers back to.
    private func mutual(
        _ target: StoreOutline.Target, _ column: StoreOutline.Column, _ table: StoreOutline.Table
    ) -> String? {
        guard let other = outline.tables.first(where: { $0.name == target.table }) else { return nil }
        let columns = target.mirrors.filter { name in
            other.column(name)?.targets.contains { $0.table == table.name && $0.mirrors.contains(column.name) } ?? false
        }
        return columns.count == 1 ? columns.first : nil
    }

    func subtree(of root: Int64) -> [(number: Int64, name: String)] {
        numbers.filter { ancestors(of: $0).contains(root) }.compactMap { number in
            entities[number].map { (number, $0.name) }
        }
    }

    /// Returns whether the column has an index as only foreign keys have, but was inferred as an attribute.
    func isDoubtful(_ column: StoreOutline.Column, of table: StoreOutline.Table) -> Bool {
        column.type == "INTEGER" && spelling.hasIndex(on: column.name, of: table.name)
    }

    // MARK: To-many

    /// Infers a many-to-many from `Z_8TAGS ( Z_8POSTS, Z_9TAGS )`: entity 8 has `tags` with destination 9, and entity 9
    /// has `posts` with destination 8.
    mutating func addManyToMany(_ table: (name: String, columns: [String])) {
        guard let (owner, stem) = StoreOutline.numbered(table.name.uppercased()), entities[owner] != nil else { return }
        let keys = table.columns.filter { !$0.uppercased().hasPrefix("Z_FOK_") }
        guard keys.count == 2 else { return }
        let orders = Set(table.columns.map { $0.uppercased() })
        func isOrdered(_ key: String) -> Bool { orders.contains("Z_FOK_" + key.uppercased().dropFirst(2)) }
        let parts = keys.map { StoreOutline.numbered($0.uppercased()) }
        guard let second = parts.lastIndex(where: { $0.map { Self.isNumbered($0.stem, like: stem) } ?? false }) else {
            return
        }
        let first = 1 - second
        var forward = RelationshipElement()
        forward.isOrdered = isOrdered(keys[second])
        let name = unused(spelling.property(stem), in: owner)
        guard let destination = parts[second]?.number, let destinationName = entities[destination]?.name else { return }
        forward.destinationName = destinationName
        if let (number, inverse) = parts[first] {
            guard let back = entities[number] else { return }
            var backward = RelationshipElement()
            backward.isOrdered = isOrdered(keys[first])
            backward.destinationName = back.name
            let inverseName = unused(spelling.property(withoutNumber(inverse, number)), in: destination)
            forward.inverseName = inverseName
            forward.inverseEntityName = destinationName
            backward.inverseName = name
            backward.inverseEntityName = entities[owner]?.name
            add(PropertyElement(name: name, kind: .relationship(forward)), to: owner)
            add(PropertyElement(name: inverseName, kind: .relationship(backward)), to: destination)
        } else {
            // `REFLEXIVE`: its own inverse.
            forward.inverseName = name
            forward.inverseEntityName = entities[owner]?.name
            add(PropertyElement(name: name, kind: .relationship(forward)), to: owner)
        }
    }

    /// Returns whether a join column's name is the relationship's, with a number because another column has that name.
    private static func isNumbered(_ stem: String, like name: String) -> Bool {
        stem.hasPrefix(name) && stem.dropFirst(name.count).allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Returns `VOTEDBY` for `VOTEDBY1`, if another table has a column `VOTEDBY`.
    private func withoutNumber(_ stem: String, _ number: Int64) -> String {
        let bare = String(stem.reversed().drop { $0.isASCII && $0.isNumber }.reversed())
        guard bare != stem, !bare.isEmpty else { return stem }
        let isTaken = outline.joinTables.contains { table in
            table.columns.contains { $0.uppercased() == "Z_\(number)\(bare)" }
        }
        return isTaken ? bare : stem
    }

    /// Adds the inverses of to-ones: another to-one, or a to-many named after its destination.
    mutating func addInverses() {
        for toOne in toOnes {
            var relationship = RelationshipElement()
            relationship.maxCount = 1
            relationship.destinationName = entities[toOne.destination]?.name
            let destinationTable = outline.tables.first { $0.root == root(of: toOne.destination) }?.name
            let partner = toOnes.first {
                $0.column == toOne.mirror && $0.table == destinationTable && $0.mirror == toOne.column
            }
            if let partner {
                relationship.destinationName = entities[partner.source]?.name
                relationship.inverseName = partner.name
                relationship.inverseEntityName = entities[partner.source]?.name
            } else if let name = addToMany(leadingBackFrom: toOne) {
                relationship.inverseName = name
                relationship.inverseEntityName = entities[toOne.destination]?.name
            }
            add(PropertyElement(name: toOne.name, kind: .relationship(relationship)), to: toOne.source)
        }
    }

    private mutating func addToMany(leadingBackFrom toOne: ToOne) -> String? {
        guard let source = entities[toOne.source]?.name else { return nil }
        let isOnly = toOnes.count {
            root(of: $0.source) == root(of: toOne.source) && $0.destination == toOne.destination
        }
        var name = InferredSpelling.plural(of: source)
        if isOnly > 1 { name += "By" + toOne.name.prefix(1).uppercased() + toOne.name.dropFirst() }
        name = unused(name, in: toOne.destination)
        var relationship = RelationshipElement()
        relationship.destinationName = source
        relationship.isOrdered = toOne.isOrderedBack
        relationship.inverseName = toOne.name
        relationship.inverseEntityName = source
        add(PropertyElement(name: name, kind: .relationship(relationship)), to: toOne.destination)
        return name
    }

    /// Returns the name with enough underscores to be unique in the whole tree, which shares its columns.
    private func unused(_ name: String, in entity: Int64) -> String {
        let tree = Set(subtree(of: root(of: entity)).map(\.number))
        var taken = Set(tree.flatMap { entities[$0]?.properties.map { $0.name.uppercased() } ?? [] })
        for toOne in toOnes where tree.contains(toOne.source) { taken.insert(toOne.name.uppercased()) }
        var name = name
        while taken.contains(name.uppercased()) { name += "_" }
        return name
    }
}
