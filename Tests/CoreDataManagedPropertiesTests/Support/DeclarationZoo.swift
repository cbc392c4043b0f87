/// Managed declarations of every kind, generated: each type in each place, and methods of to-many relationships.
///
/// The root class stands in for NSManagedObject: symbols do not depend on it.
enum DeclarationZoo {
    static let moduleName = "DataModel"
    static let dependencyName = "SharedShapes"

    /// The module that the zoo depends on.
    static let dependency = """
        import Foundation

        open class Record: NSObject {}
        open class Shape: Record {
            public enum Kind: Int16 { case round, square }
            open class Corner: Record {}
        }
        public enum Shared {}
        extension Shared {
            public enum SharedKind: String { case one }
            open class SharedRecord: Record {}
        }
        public typealias ShapeNames = [String]
        public protocol Marking {}
        """

    static let types: [String] =
        scalars + scalars.map { $0 + "?" } + [
            "NSSet", "NSSet?", "NSOrderedSet", "NSOrderedSet?", "Item", "Item?", "Item!", "Set<Item>", "Set<Item>?",
            "[Item]", "[Item?]?", "[String]", "[String]?", "[String: Int]", "[String: Any]", "[String: [Int]]?",
            "Set<String>", "NSObject", "NSObject?", "NSArray?", "NSDictionary", "NSData?", "Any?", "AnyObject?", "Mood",
            "Mood?", "Shape", "Shape?", "Shape.Kind", "SharedShapes.Shape.Kind?", "Shape.Corner?", "Shared.SharedKind",
            "Shared.SharedRecord?", "ShapeNames", "Names?", "Pair<Int>", "Box<Int>", "Box<Item>?", "Box<[Item?]>",
            "Outer<Int>.Inner<String>?", "Outer<Item>.Plain", "Space.Deep.Leaf", "Space.Boxed<Date>?", "TimeInterval",
            "Measurement<UnitLength>?", "Range<Int>", "ClosedRange<Date>?", "Calendar.Component", "Locale",
            "any Marking", "(any Marking)?", "any Codable", "(any Error)?", "any Sendable", "any Marking & AnyObject",
            "[AnyHashable: Any]", "Character", "CGFloat", "CGRect?", "IndexSet", "DateComponents?", "Optional<Int>",
            "Array<Item>", "Dictionary<String, Item>", "Swift.Int", "Foundation.Date?", "(Int, Int)",
            "(first: Item, second: Item?)", "DataModel.Item?", "[Date: Set<UUID>]", "Grün", "`default`?", "Void?",
            "[[[Item]]]", "(Item, Item, Item, Item)", "Wide",
        ]

    private static let scalars = [
        "String", "Int", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "Date", "Data", "UUID", "URL", "Decimal",
        "NSDecimalNumber", "NSNumber",
    ]

    /// Where classes stand: the text around members, and how the class is called.
    private static let places: [(open: String, close: String, type: String, names: [String])] = [
        ("open class Item: Record {", "}", "Item", ["item", "itemData", "modelItem", "dataItem_Data"]),
        ("extension Item {", "}", "Item", ["extended", "DataModel", "URLString"]),
        ("public class SpecialItem: Item {", "}", "SpecialItem", ["special", "Item", "größe"]),
        ("extension Space { open class Inside: Record {", "} }", "Space.Inside", ["inside", "string"]),
        (
            "public enum Holder { public struct Second { public final class Third: Record {", "} } }",
            "Holder.Second.Third", ["third", "HolderSecond", "x1y2"]
        ),
        ("extension Shape {", "}", "Shape", ["shapeOfDataModel", "kind"]),
        ("extension Shape.Corner {", "}", "Shape.Corner", ["corner"]),
        ("extension Shared { public class Joined: Record {", "} }", "Shared.Joined", ["joined", "sharedJoined"]),
        ("public class DataModel: Record {", "}", "DataModel", ["same"]),
    ]

    /// The sources of the zoo, by file name. Each declaration is used, so that its symbols are wanted.
    static let files: [(name: String, text: String)] = {
        var files = [(name: "Kinds.swift", text: kinds)]
        for (index, place) in places.enumerated() {
            var members = ""
            var uses = ""
            for (number, type) in types.enumerated() {
                let name = "\(place.names[number % place.names.count])\(number)"
                let isPrivate = number % 7 == 3
                // A module's name leads to the module only where no type has it.
                let written = type.hasPrefix("DataModel.") ? "Item?" : type
                members += "    @NSManaged \(isPrivate ? "private" : "public") var \(name): \(written)\n"
                uses +=
                    isPrivate
                    ? "extension \(place.type) { public func use\(index)x\(number)() { self.\(name) = self.\(name) } }\n"
                    : "public func use\(index)x\(number)(_ o: \(place.type)) { o.\(name) = o.\(name) }\n"
            }
            let (methods, methodUses) = methods(of: place.type, index)
            let text = "\(place.open)\n\(members)\(methods)\(place.close)\n\(uses)\(methodUses)"
            files.append(("File\(index).swift", "import Foundation\nimport SharedShapes\n\(text)"))
        }
        return files
    }()

    private static func methods(of type: String, _ index: Int) -> (declarations: String, uses: String) {
        let signatures: [(name: String, parameters: [(label: String, type: String)])] = [
            ("addToItems\(index)", [("_", "Item")]), ("addToItems\(index)", [("_", "NSSet")]),
            ("removeFromItems\(index)", [("_", "Item")]),
            ("removeFromItems\(index)", [("_", "Set<Item>")]),
            ("insertIntoItems\(index)", [("_", "Item"), ("at", "Int")]),
            ("removeFromItems\(index)", [("at", "Int")]),
            ("insertIntoItems\(index)", [("_", "[Item]"), ("at", "NSIndexSet")]),
            ("removeFromItems\(index)", [("at", "IndexSet")]),
            ("replaceItems\(index)", [("at", "Int"), ("with", "Item")]),
            ("replaceItems\(index)", [("at", "NSIndexSet"), ("with", "[Item]")]),
            ("addShapes\(index)Object", [("_", "Shape")]),
            ("removeShapes\(index)", [("_", "NSOrderedSet")]),
            ("insertObject", [("_", "Shape"), ("inShapes\(index)AtIndex", "Int")]),
            ("replaceShapes\(index)AtIndexes", [("_", "NSIndexSet"), ("withShapes\(index)", "[Shape]")]),
        ]
        var declarations = ""
        var uses = ""
        for (number, signature) in signatures.enumerated() {
            let parameters = signature.parameters.enumerated().map { "\($1.label) p\($0): \($1.type)" }
            let arguments = signature.parameters.enumerated().map {
                ($1.label == "_" ? "" : "\($1.label): ") + "p\($0)"
            }
            let taken = signature.parameters.enumerated().map { "_ p\($0): \($1.type)" }
            declarations += "    @NSManaged public func \(signature.name)(\(parameters.joined(separator: ", ")))\n"
            uses +=
                "public func use\(index)m\(number)(_ o: \(type), \(taken.joined(separator: ", "))) "
                + "{ o.\(signature.name)(\(arguments.joined(separator: ", "))) }\n"
        }
        return (declarations, uses)
    }

    private static let kinds = """
        import Foundation
        import SharedShapes

        public enum Mood: Int16 { case calm, merry }
        public typealias Names = [String]
        public typealias Pair<T> = (T, T)
        public struct Box<Content> { public var content: Content }
        public struct Outer<A> {
            public struct Inner<B> {}
            public struct Plain {}
        }
        public enum Space {
            public enum Deep { public struct Leaf {} }
        }
        extension Space { public struct Boxed<T> {} }
        public enum Grün: String { case hell }
        public enum `default`: Int { case one }
        #if os(iOS)
            import UIKit
            public typealias Wide = UIColor
        #else
            public typealias Wide = Mood
        #endif
        """
}
