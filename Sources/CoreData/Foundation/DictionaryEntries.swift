import Foundation
@_spi(Reflection) import Swift

/// The storage of the entries of Foundation's dictionaries.
///
/// Code that makes 100,000 dictionaries with the same keys should hash the keys once. No initialiser of `NSDictionary`
/// takes existing storage, and a subclass with its own storage does not help: a cast to `[String: Any]` finds nothing
/// in it (docs/limits/dictionary-results.swift). Therefore the entries are written to the place where Foundation has
/// them. The runtime tells that place, and a trial confirms it before it is used. If a version of Foundation has
/// another layout, its initialisers are used.
enum DictionaryEntries {
    typealias Entries = [NSObject: AnyObject]

    /// The offset of the entries in an `NSDictionary`; `nil` for another layout.
    static let offset: Int? = {
        var offset: Int?
        // The option for classes; its name stands for a variable.
        _forEachField(of: NSDictionary.self, options: _EachFieldOptions(rawValue: 1)) { _, place, type, _ in
            if type == Entries.self { offset = place }
            return true
        }
        guard let offset, MemoryLayout<Entries>.size == MemoryLayout<UnsafeRawPointer>.size else { return nil }
        return isRight(offset) ? offset : nil
    }()

    private static func isRight(_ offset: Int) -> Bool {
        let key = NSString(string: "key")
        let value = NSNumber(value: 1.5)
        let dictionary = NSMutableDictionary(objects: [value], forKeys: [key])
        guard entries(of: dictionary, at: offset).first?.value === value else { return false }
        let other = NSNumber(value: 2.5)
        put([key: other], into: dictionary, at: offset)
        return dictionary.count == 1 && (dictionary.object(forKey: "key") as? NSNumber) === other
    }

    /// A dictionary with these entries, which shares them until one of the two changes.
    ///
    /// - Parameter offset: as ``offset`` has it.
    static func dictionary(_ entries: Entries, at offset: Int) -> NSMutableDictionary {
        let dictionary = NSMutableDictionary(objects: nil, forKeys: nil, count: 0)
        put(entries, into: dictionary, at: offset)
        return dictionary
    }

    private static func entries(of dictionary: NSDictionary, at offset: Int) -> Entries {
        withExtendedLifetime(dictionary) { place(in: dictionary, at: offset).pointee }
    }

    private static func put(_ entries: Entries, into dictionary: NSDictionary, at offset: Int) {
        withExtendedLifetime(dictionary) { place(in: dictionary, at: offset).pointee = entries }
    }

    @inline(__always)
    private static func place(in dictionary: NSDictionary, at offset: Int) -> UnsafeMutablePointer<Entries> {
        (Unmanaged.passUnretained(dictionary).toOpaque() + offset).assumingMemoryBound(to: Entries.self)
    }
}

/// Makes dictionaries of the same keys: the keys are hashed once, each dictionary copies the table and changes its
/// values.
struct DictionaryMaker {
    private let keys: [NSString]
    /// The entries with every key, and where in them each key's value is.
    private let whole: Template
    /// The templates for rows that lack some values, by the mask of the values that they have.
    private var partial: [UInt64: Template] = [:]

    private struct Template {
        var entries: DictionaryEntries.Entries = [:]
        var places: [(position: Int, place: DictionaryEntries.Entries.Index)] = []

        init(_ keys: [(position: Int, key: NSString)]) {
            for (_, key) in keys { entries[key] = NSNull() }
            for (position, key) in keys {
                if let place = entries.index(forKey: key) { places.append((position, place)) }
            }
        }
    }

    init(keys: [String]) {
        self.keys = keys.map { NSString(string: $0) }
        whole = Template(Array(zip(self.keys.indices, self.keys)))
    }

    /// A dictionary of the values by their keys; `nil` has no entry. Takes the values out of the list.
    mutating func make(_ values: inout [AnyObject?]) -> NSMutableDictionary {
        guard let offset = DictionaryEntries.offset, keys.count <= 64 else { return makeOneByOne(&values) }
        var mask: UInt64 = 0
        for index in values.indices where values[index] != nil { mask |= 1 << UInt64(index) }
        let template = mask == ~0 >> UInt64(64 - max(keys.count, 1)) ? whole : template(mask)
        var entries = template.entries
        for (position, place) in template.places {
            if let value = values[position].take() { entries.values[place] = value }
        }
        return DictionaryEntries.dictionary(entries, at: offset)
    }

    private mutating func template(_ mask: UInt64) -> Template {
        if let known = partial[mask] { return known }
        let present = keys.indices.filter { mask & (1 << UInt64($0)) != 0 }
        let made = Template(present.map { ($0, keys[$0]) })
        partial[mask] = made
        return made
    }

    private func makeOneByOne(_ values: inout [AnyObject?]) -> NSMutableDictionary {
        let dictionary = NSMutableDictionary(capacity: keys.count)
        for (index, key) in keys.enumerated() {
            if let value = values[index].take() { dictionary.setObject(value, forKey: key) }
        }
        return dictionary
    }
}
