/// The properties of a state by name, in the order of the names: a dictionary for few keys in one piece of memory.
///
/// States have some properties each, and there are hundreds of thousands of states. A `Dictionary` hashes each name
/// each time; here short names are compared as words, and two tables are merged by going through both.
///
///     var table: PropertyTable = ["name": .last(stamp, .string("Milk"))]
///     table["count"] = .last(stamp, .integer(2))
///     for (name, property) in table { … }                 // count, name
package struct PropertyTable: Sendable, ExpressibleByDictionaryLiteral {
    package typealias Element = (key: String, value: PropertyState)

    private var elements: [Element] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, PropertyState)...) {
        for (name, property) in elements { self[name] = property }
    }

    package init(_ properties: [String: PropertyState]) {
        elements = properties.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
    }

    /// The properties in any order; `nil` if one is there twice.
    init?(unordered properties: [Element]) {
        elements = properties
        if isInOrder { return }
        elements.sort { $0.key < $1.key }
        if !isInOrder { return nil }
    }

    private var isInOrder: Bool { elements.indices.dropFirst().allSatisfy { elements[$0 - 1].key < elements[$0].key } }

    /// Elements that are in order.
    private init(inOrder elements: [Element]) { self.elements = elements }

    // MARK: One property

    /// Below this number of properties names are compared one after another.
    private static let few = 8

    private func index(of name: String) -> Int? {
        if elements.count <= Self.few { return elements.firstIndex { $0.key == name } }
        let place = place(of: name)
        return place < elements.count && elements[place].key == name ? place : nil
    }

    /// The number of properties with names before this one.
    private func place(of name: String) -> Int {
        if let last = elements.last, last.key < name { return elements.count }
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].key < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package subscript(name: String) -> PropertyState? {
        get { index(of: name).map { elements[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): elements[index].value = value
            case (let index?, nil): elements.remove(at: index)
            case (nil, let value?): elements.insert((name, value), at: place(of: name))
            case (nil, nil): break
            }
        }
    }

    package mutating func reserveCapacity(_ count: Int) { elements.reserveCapacity(count) }

    // MARK: All properties

    package var keys: LazyMapCollection<[Element], String> { elements.lazy.map { $0.key } }
    package var values: LazyMapCollection<[Element], PropertyState> { elements.lazy.map { $0.value } }

    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> Self {
        Self(inOrder: try elements.filter(isIncluded))
    }

    package func mapValues(_ transform: (PropertyState) throws -> PropertyState) rethrows -> Self {
        Self(inOrder: try elements.map { ($0.key, try transform($0.value)) })
    }

    package func compactMapValues(_ transform: (PropertyState) throws -> PropertyState?) rethrows -> Self {
        Self(inOrder: try elements.compactMap { name, value in try transform(value).map { (name, $0) } })
    }

    /// Adds the properties of another table; a closure combines those that both have.
    package mutating func merge(
        _ other: Self, _ combine: (PropertyState, PropertyState) throws -> PropertyState
    ) rethrows {
        for (name, theirs) in other.elements { self[name] = try self[name].map { try combine($0, theirs) } ?? theirs }
    }

    /// Merges each property with that of the other table. Most states that meet are equal: this one is copied only
    /// where one is not.
    mutating func merge(_ other: Self) {
        if other.elements.isEmpty || self == other { return }
        if elements.isEmpty {
            elements = other.elements
            return
        }
        var place = 0
        for index in other.elements.indices {
            let name = other.elements[index].key
            while place < elements.count, elements[place].key < name { place += 1 }
            if place == elements.count || elements[place].key != name {
                elements.insert(other.elements[index], at: place)
            } else if elements[place].value != other.elements[index].value {
                elements[place].value = elements[place].value.merged(with: other.elements[index].value)
            }
            place += 1
        }
    }
}

extension PropertyTable: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count }
    package subscript(index: Int) -> Element { elements[index] }
    package func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}

extension PropertyTable: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        guard a.elements.count == b.elements.count else { return false }
        for index in a.elements.indices {
            if a.elements[index].key != b.elements[index].key || a.elements[index].value != b.elements[index].value {
                return false
            }
        }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(elements.count)
        for element in elements {
            hasher.combine(element.key)
            hasher.combine(element.value)
        }
    }
}
