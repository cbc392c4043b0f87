import Foundation
import GRDB
import Sides

// Records as somebody who cares for speed writes them: columns by position, no Codable.

struct ItemRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "ZITEM"
    static let home = belongsTo(HomeRecord.self, key: "home", using: ForeignKey(["ZLOCATIONATHOME"]))

    enum Columns {
        static let entity = Column("Z_ENT")
        static let version = Column("Z_OPT")
        static let key = Column("Z_PK")
        static let collected = Column("ZCOLLECTED")
        static let listed = Column("ZLISTED")
        static let home = Column("ZLOCATIONATHOME")
        static let shop = Column("ZLOCATIONATSHOP")
        static let unit = Column("ZUNIT")
        static let quantity = Column("ZQUANTITY")
        static let name = Column("ZNAME")
        static let photo = Column("ZPHOTO")
    }

    var key: Int64
    var entity: Int64
    var version: Int64
    var collected: Bool
    var listed: Bool
    var home: Int64?
    var shop: Int64?
    var unit: Int64?
    var quantity: Double
    var name: String
    var photo: Data?

    init(row: Row) {
        key = row[0]
        entity = row[1]
        version = row[2]
        collected = row[3]
        listed = row[4]
        home = row[5]
        shop = row[6]
        unit = row[7]
        quantity = row[8]
        name = row[9]
        photo = row[10]
    }

    init(_ sample: ItemValues, key: Int64) {
        self.key = key
        entity = 1
        version = 1
        collected = sample.collected
        listed = sample.listed
        home = Int64(sample.home)
        shop = Int64(sample.shop)
        unit = Int64(sample.unit)
        quantity = sample.quantity
        name = sample.name
    }

    func encode(to container: inout PersistenceContainer) {
        container[Columns.key] = key
        container[Columns.entity] = entity
        container[Columns.version] = version
        container[Columns.collected] = collected
        container[Columns.listed] = listed
        container[Columns.home] = home
        container[Columns.shop] = shop
        container[Columns.unit] = unit
        container[Columns.quantity] = quantity
        container[Columns.name] = name
        container[Columns.photo] = photo
    }
}

struct HomeRecord: FetchableRecord, TableRecord {
    static let databaseTableName = "ZLOCATIONATHOME"

    let key: Int64
    let storedIn: String

    init(row: Row) {
        key = row["Z_PK"]
        storedIn = row["ZSTOREDIN"]
    }
}

struct ItemWithHome: FetchableRecord {
    let item: ItemRecord
    let home: HomeRecord?

    init(row: Row) {
        item = ItemRecord(row: row)
        home = row["home"]
    }
}
