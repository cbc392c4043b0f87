import Synchronization

/// In what ways of writing SQL databases differ, as named capabilities: whoever makes or plans statements asks for one of
/// these, never for a product.
///
///     dialect.computes(.textContains, [title, part, .integer(0)])      // whether a condition may say so
///     SQLRenderer(dialect)                                             // writes it
///
/// What a dialect lacks is not written in some other way that nearly means the same: the planner leaves such a part of a
/// request to memory.
package final class SQLDialect: Sendable {
    package enum Placeholder: Hashable, Sendable {
        /// `?`.
        case questionMark
        /// `$1`, `$2`, ….
        case numbered
    }

    package enum Quoting: Hashable, Sendable {
        /// Names that are no plain words, or words of the language.
        case whereNeeded
        /// Every name, where a bare one would lose its case.
        case always
    }

    /// How equality in which NULL equals NULL is written.
    package enum Identity: Hashable, Sendable {
        /// `a IS b`, `a IS NOT b`.
        case bare
        /// `a IS NOT DISTINCT FROM b`, `a IS DISTINCT FROM b`.
        case distinctFrom
    }

    /// How a list of values that is bound as one JSON array becomes rows.
    package enum JSONArrays: Hashable, Sendable {
        /// `json_each(?)`, whose members have types of their own.
        case members
        /// `jsonb_array_elements_text(?)`, whose members are texts.
        case texts
    }

    /// What tells of the tables that are there.
    package enum Catalog: Hashable, Sendable {
        /// `sqlite_master` and the pragmas that are tables.
        case master
        /// `pg_class` and the catalogs beside it.
        case catalogs
    }

    /// How statements of a schema are written.
    package enum Schema: Hashable, Sendable {
        /// To the letter as Apple's Core Data does: the text is part of the file.
        case apples
        /// As the standard has it; what a trigger does is a function beside it.
        case standard
    }

    /// What tables and columns of a model are called.
    package enum Naming: Hashable, Sendable {
        /// `ZITEM`, `ZNAME`: as Apple's files have them.
        case apples
        /// `Item`, `name`: as in the model.
        case models
    }

    package var placeholder: Placeholder { traits.placeholder }
    package var quoting: Quoting { traits.quoting }
    package var identity: Identity { traits.identity }
    /// `nil` where a long list cannot be bound as one value.
    package var jsonArrays: JSONArrays? { traits.jsonArrays }
    package var catalog: Catalog { traits.catalog }
    /// Whether there are tables that find texts by what is in them.
    package var hasSearchTables: Bool {
        keepsTexts && [SQLFunction.searchText, .relevance, .excerpt].allSatisfy { form(of: $0) != nil }
    }
    package var schema: Schema { traits.schema }
    /// Whether columns come to a table and go from it without that its rows are written anew.
    package var altersTables: Bool { traits.altersTables }
    /// Whether constraints come to a table and go from it.
    package var hasConstraints: Bool { traits.hasConstraints }
    /// Whether the catalog has the statements that made the schema, to the letter.
    package var keepsTexts: Bool { traits.keepsTexts }
    /// The most values that one statement may have bound.
    package var maximumBindings: Int { traits.maximumBindings }
    /// The same dialect with other numbers of bound values, as far as somebody asked for them.
    private let variants = Mutex<[Int: SQLDialect]>([:])
    /// The most tables that the FROM clause of one SELECT may have.
    package var maximumJoinedTables: Int { traits.maximumJoinedTables }
    /// Whether NULL comes before everything else, as in memory, without being told to.
    package var sortsNullFirst: Bool { traits.sortsNullFirst }
    /// Whether OFFSET stands behind a LIMIT only; the limit that is none is -1.
    package var offsetNeedsLimit: Bool { traits.offsetNeedsLimit }
    /// Whether an INSERT can leave the rows before the failing one to the transaction's rollback.
    package var insertsUpToFailure: Bool { traits.insertsUpToFailure }
    /// Whether `CROSS JOIN … ON` makes what stands first be gone through first.
    package var crossJoinsInOrder: Bool { traits.crossJoinsInOrder }
    /// Whether an INSERT of a SELECT reads ON CONFLICT as a part of the SELECT unless that has a condition.
    package var selectHidesConflict: Bool { traits.selectHidesConflict }
    /// How it calls what the engine has names for; `nil` where they are the same.
    package var names: SQLNames? { traits.names }
    /// Whether a value has to say of what type it is.
    package var typesBindings: Bool { traits.typesBindings }
    /// Whether truth, moments and UUIDs are types of their own, which are neither numbers nor bytes, and moments go by the microsecond.
    package var typesValues: Bool { traits.typesValues }
    /// How tables and columns of a model are called.
    package var naming: Naming { traits.naming }
    /// Whether all rows of a result come before the first can be looked at.
    package var readsWhole: Bool { traits.readsWhole }
    /// Whether the database is reached over a connection: each statement that is waited for costs a round trip, a commit may be lost, and
    /// the store may become another one while it is open.
    package var isRemote: Bool { traits.isRemote }
    /// Whether tables of other programs may stand beside those of the store.
    package var sharesSchema: Bool { traits.sharesSchema }
    /// Whether a transaction writes a row that says that it was committed.
    package var notesCommits: Bool { traits.notesCommits }
    /// Whether tables and columns have comments.
    package var keepsComments: Bool { traits.keepsComments }
    /// Whether several transactions may write at once, so that what one counts on has to be locked.
    package var writesTogether: Bool { traits.writesTogether }
    /// Whether one INSERT … ON CONFLICT can update rows and tell where it inserted one.
    package var updatesByInserting: Bool { traits.updatesByInserting }
    /// Whether the values of many rows can be bound as an array for each column: `UNNEST(?, ?)`.
    package var bindsArrays: Bool { traits.bindsArrays }
    /// Operators that give what memory gives, whatever the numbers.
    var arithmetic: Set<SQLExpression.Arithmetic> { traits.arithmetic }
    /// Whether a statement may fail because of the values that it meets, which is no failure in memory.
    package var failsOnValues: Bool { traits.failsOnValues }
    /// Whether its decimals have every digit.
    package var exactDecimals: Bool { traits.exactDecimals }
    /// Whether a whole number is held against a double by what the two are; else both are made doubles, and large numbers are rounded.
    package var mixesNumbers: Bool { traits.mixesNumbers }
    /// Whether what is selected beside an aggregate, or sorts groups or distinct rows, may be anything: then it is that of some row.
    package var groupsLoosely: Bool { traits.groupsLoosely }
    /// Whether `text ~ expression` finds what an extended regular expression of PostgreSQL matches, by scalars of Unicode.
    package var findsPatterns: Bool { traits.findsPatterns }
    /// Whether values are converted from one type to another as in memory.
    var casts: Bool { traits.casts }
    /// The types of columns, and those that values are cast to.
    package var columnTypes: [SQLType: String] { traits.columnTypes }
    package var castTypes: [SQLType: String] { traits.castTypes }
    /// What the catalog calls the types of columns; empty where it keeps statements.
    package var catalogTypes: [SQLType: String] { traits.catalogTypes }
    private var functions: [SQLFunction: SQLForm] { traits.functions }
    private var aggregates: [SQLAggregate: SQLForm] { traits.aggregates }
    private var collations: [SQLCollation: String] { traits.collations }
    /// Whether it has all that a fetch may ask for, so that nobody need look.
    package let hasEverything: Bool

    init(_ traits: Traits) {
        hasEverything =
            traits.arithmetic.count == SQLExpression.Arithmetic.allCases.count
            && SQLFunction.allCases.allSatisfy { traits.functions[$0]?.takesAnyOptions == true }
            && SQLAggregate.allCases.allSatisfy { traits.aggregates[$0] != nil }
            && SQLCollation.allCases.allSatisfy { traits.collations[$0] != nil }
        self.traits = traits
    }

    /// All that it can; what is beside it here is made of it.
    private let traits: Traits

    // MARK: Asking

    /// What a table or column is called in the database that the engine has the name for.
    package func stored(_ name: String) -> String { names?.stored(name) ?? name }

    package func form(of function: SQLFunction) -> SQLForm? { functions[function] }
    package func form(of aggregate: SQLAggregate) -> SQLForm? { aggregates[aggregate] }
    package func name(of collation: SQLCollation) -> String? { collations[collation] }

    /// Whether the function can be computed of these arguments: some forms do without options.
    package func computes(_ function: SQLFunction, _ arguments: [SQLExpression]) -> Bool {
        guard let form = functions[function] else { return false }
        return form.takesAnyOptions || arguments.last == .integer(0)
    }

    // MARK: Variants

    /// The dialect of a database that takes so many bound values: made once, since every database that is opened asks for it.
    package func binding(atMost maximum: Int) -> SQLDialect {
        variants.withLock { variants in
            if let known = variants[maximum] { return known }
            let made = changed { $0.maximumBindings = maximum }
            variants[maximum] = made
            return made
        }
    }

    /// The dialect without a function, an aggregate or a collation: what a server has that was not given it.
    package func without(_ function: SQLFunction) -> SQLDialect { changed { $0.functions[function] = nil } }
    package func without(_ aggregate: SQLAggregate) -> SQLDialect { changed { $0.aggregates[aggregate] = nil } }
    package func without(_ collation: SQLCollation) -> SQLDialect { changed { $0.collations[collation] = nil } }
    package func withoutJSONArrays() -> SQLDialect { changed { $0.jsonArrays = nil } }
    package func withoutArrays() -> SQLDialect { changed { $0.bindsArrays = false } }
    package func withoutPatterns() -> SQLDialect { changed { $0.findsPatterns = false } }

    /// What stands in a schema may compute more than a request: whoever declares it knows that the database makes the values.
    package var inSchemas: SQLDialect {
        traits.schemaFunctions.isEmpty
            ? self : changed { $0.functions.merge($0.schemaFunctions) { first, _ in first } }
    }

    /// The dialect for columns, constants and what compares them: nothing is computed.
    package var withoutComputation: SQLDialect {
        changed { traits in
            traits.arithmetic = []
            traits.aggregates = traits.aggregates.filter {
                $0.key == .count || $0.key == .maximum || $0.key == .minimum
            }
            traits.functions = traits.functions.filter { [.coalesce, .ifNull, .number, .wideNumber].contains($0.key) }
            traits.casts = false
            traits.findsPatterns = false
        }
    }

    private func changed(_ change: (inout Traits) -> Void) -> SQLDialect {
        var traits = traits
        change(&traits)
        return SQLDialect(traits)
    }
}

extension SQLDialect {
    /// What a dialect is made of.
    struct Traits: Sendable {
        var placeholder = Placeholder.questionMark
        var quoting = Quoting.whereNeeded
        var identity = Identity.bare
        var jsonArrays: JSONArrays?
        var catalog = Catalog.master
        var schema = Schema.apples
        var maximumBindings = 999
        var maximumJoinedTables = 64
        var sortsNullFirst = true
        var offsetNeedsLimit = true
        var insertsUpToFailure = true
        var crossJoinsInOrder = true
        var selectHidesConflict = true
        var names: SQLNames?
        var typesBindings = false
        var typesValues = false
        var naming = Naming.apples
        var readsWhole = false
        var isRemote = false
        var sharesSchema = false
        var notesCommits = false
        var keepsComments = false
        var altersTables = false
        var hasConstraints = false
        var keepsTexts = true
        var writesTogether = false
        var updatesByInserting = true
        var bindsArrays = false
        var arithmetic = Set(SQLExpression.Arithmetic.allCases)
        var failsOnValues = false
        var casts = true
        var findsPatterns = false
        var exactDecimals = false
        var mixesNumbers = true
        var groupsLoosely = true
        /// What a schema may compute beside ``functions``.
        var schemaFunctions: [SQLFunction: SQLForm] = [:]
        var columnTypes: [SQLType: String] = [:]
        var castTypes: [SQLType: String] = [:]
        var catalogTypes: [SQLType: String] = [:]
        var functions: [SQLFunction: SQLForm] = [:]
        var aggregates: [SQLAggregate: SQLForm] = [:]
        var collations: [SQLCollation: String] = [:]
    }
}

/// How a dialect writes a function.
package enum SQLForm: Hashable, Sendable {
    /// `NAME(a, b)`.
    case call(String)
    /// `(a op b)`.
    case infix(String)
    /// Text with the arguments in it by number: `"UPPER(ENCODE({0}, 'hex'))"`.
    case template(String)
    /// As ``template(_:)``, for texts as they are: the last argument, the options, is 0 and not written.
    case plainTemplate(String)
    /// `(a COLLATE c = b)`: the collation goes by the options, which are the last argument, from 1 on.
    case collated([String])
    /// `NAME(…) WITHIN GROUP (ORDER BY a)`, of an aggregate.
    case ordered(String)

    /// Whether options on text may be any.
    var takesAnyOptions: Bool {
        if case .plainTemplate = self { return false }
        return true
    }
}

/// What a column holds.
package enum SQLType: Hashable, Sendable, CaseIterable {
    /// A whole number that is the key of its row.
    case rowKey
    /// A whole number of 64 bits.
    case integer
    /// Whole numbers of 16 and of 32 bits, where the dialect has columns for them.
    case smallInteger
    case mediumInteger
    /// 0 or 1.
    case boolean
    case real
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date
    case decimal
    case text
    /// A text of at most 255 characters.
    case shortText
    case bytes
    /// The 16 bytes of a UUID.
    case identifier
}
