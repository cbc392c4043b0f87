import CoreDataModel
import CoreDataPrimitives

/// The content of a model's drawing, without positions: a box per entity, an edge per pair of relationships.
package struct ModelDiagram: Sendable {
    package struct Row: Sendable {
        package enum Kind: Sendable {
            case attribute
            case relationship
            case fetched
        }

        package var name: String
        /// The type in Swift notation: `String?`, `[Page]`.
        package var detail: String
        package var kind: Kind
    }

    package struct Box: Sendable {
        package var name: String
        package var isAbstract: Bool
        package var parent: String?
        /// Attributes, then relationships and fetched properties, each by name.
        package var rows: [Row]
    }

    /// The point where an edge meets a box: at a row or at the title.
    package struct Port: Hashable, Sendable {
        package var box: Int
        package var row: Int?
    }

    package struct Edge: Sendable {
        package enum Kind: Sendable {
            case relationship
            /// From the child to the parent.
            case inheritance
        }

        /// The symbol at the end of an edge.
        package enum Head: Sendable {
            case none
            case one
            case many
            case triangle
        }

        package var kind: Kind
        package var from: Port
        package var to: Port
        package var fromHead: Head
        package var toHead: Head
        /// The description of the edge for screen readers: `Book.author — Author.books`.
        package var title: String
    }

    package private(set) var boxes: [Box] = []
    package private(set) var edges: [Edge] = []
    /// The position of each box in Xcode, by name.
    package private(set) var positions: [String: DiagramElement] = [:]

    package init(_ document: ModelDocument) {
        positions = Dictionary(document.diagram.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let entities = document.entities.sorted { NameOrder.ignoringCase($0.name, $1.name) }
        boxes = entities.map(Self.box)
        let index = Dictionary(
            entities.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        for (child, entity) in entities.enumerated() {
            guard let name = entity.parentName, let parent = index[name] else { continue }
            edges.append(
                Edge(
                    kind: .inheritance, from: Port(box: child), to: Port(box: parent), fromHead: .none,
                    toHead: .triangle, title: "\(entity.name) is a \(name)"))
        }
        addRelationships(entities, index)
    }

    // MARK: Boxes

    private static func box(_ entity: EntityElement) -> Box {
        let rows = entity.properties.sorted { NameOrder.ignoringCase($0.name, $1.name) }.map(row)
        return Box(
            name: entity.name, isAbstract: entity.isAbstract, parent: entity.parentName,
            rows: rows.filter { $0.kind == .attribute } + rows.filter { $0.kind != .attribute })
    }

    private static func row(_ property: PropertyElement) -> Row {
        switch property.kind {
        case .attribute(let attribute):
            var type =
                attribute.type == .composite ? attribute.compositeName ?? "Composite" : attribute.type.displayName
            if property.isOptional { type += "?" }
            return Row(name: property.name, detail: type, kind: .attribute)
        case .relationship(let relationship):
            let name = relationship.destinationName ?? "?"
            let isToMany = relationship.maxCount != 1
            return Row(
                name: property.name, detail: isToMany ? "[\(name)]" : name + (property.isOptional ? "?" : ""),
                kind: .relationship)
        case .fetched(let request):
            return Row(name: property.name, detail: "[\(request.entityName ?? "?")]", kind: .fetched)
        }
    }

    // MARK: Edges

    private mutating func addRelationships(_ entities: [EntityElement], _ index: [String: Int]) {
        func end(_ name: String?, from entity: Int) -> (port: Port, relationship: RelationshipElement)? {
            // An inverse may be inherited: it is drawn at its declaration.
            var current: Int? = entity
            var visited: Set<Int> = []
            while let box = current, visited.insert(box).inserted {
                if let row = boxes[box].rows.firstIndex(where: { $0.name == name && $0.kind == .relationship }),
                    case .relationship(let relationship)? = entities[box].properties.first(where: { $0.name == name })?
                        .kind
                {
                    return (Port(box: box, row: row), relationship)
                }
                current = entities[box].parentName.flatMap { index[$0] }
            }
            return nil
        }
        func head(_ relationship: RelationshipElement) -> Edge.Head { relationship.maxCount == 1 ? .one : .many }

        var drawn: Set<Port> = []
        for (box, entity) in entities.enumerated() {
            for (row, shown) in boxes[box].rows.enumerated() where shown.kind == .relationship {
                let port = Port(box: box, row: row)
                guard let (own, relationship) = end(shown.name, from: box), own == port, !drawn.contains(port),
                    let destination = relationship.destinationName.flatMap({ index[$0] })
                else { continue }
                drawn.insert(port)
                var edge = Edge(
                    kind: .relationship, from: port, to: Port(box: destination), fromHead: .none,
                    toHead: head(relationship), title: "\(entity.name).\(shown.name) → \(boxes[destination].name)")
                if let name = relationship.inverseName, let inverse = end(name, from: destination),
                    inverse.port != port,
                    inverse.relationship.inverseName == shown.name, drawn.insert(inverse.port).inserted
                {
                    edge.to = inverse.port
                    edge.fromHead = head(inverse.relationship)
                    edge.title = "\(entity.name).\(shown.name) ↔ \(boxes[inverse.port.box].name).\(name)"
                } else if relationship.inverseName == shown.name, destination == box {
                    edge.fromHead = head(relationship)
                }
                edges.append(edge)
            }
        }
    }
}

extension ModelDiagram.Port {
    init(box: Int) { self.init(box: box, row: nil) }
}
