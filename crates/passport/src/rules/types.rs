//! The types of the language, and the enumerations they speak of.

use crate::facts::{FactType, Field, FieldType, TagSet};
use crate::value::Unit;

use super::verdict::Verdict;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// An integer from the first to the second, both included.
    Range(i64, i64),
    /// An exact decimal number.
    Dec,
    /// A number of this unit.
    Qty(Unit),
    /// A day.
    Date,
    /// A month.
    Month,
    /// Text.
    Text,
    /// One of a closed list of words.
    Enum(EnumId),
    /// Something or nothing.
    Opt(Box<Type>),
    /// Any number of these.
    List(Box<Type>),
    /// Named parts, sorted by name.
    Rec(Vec<(String, Type)>),
    /// A fact.
    Fact(FactType),
    /// Could not be found out; a diagnostic says why. Fits everywhere, so that one mistake is
    /// reported once.
    Wrong,
}

/// Which enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnumId(pub u32);

/// A closed list of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// What it is called.
    pub name: String,
    /// Its words.
    pub tags: Vec<String>,
}

/// All enumerations a package can speak of: those of fact schemas, `Verdict`, and its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enums(Vec<Enum>);

impl Type {
    /// `Opt` of this, or this if it is one already.
    pub fn or_none(self) -> Type {
        match self {
            Type::Opt(_) | Type::Wrong => self,
            other => Type::Opt(Box::new(other)),
        }
    }

    /// The type without `Opt` around it.
    pub fn present(&self) -> &Type {
        match self {
            Type::Opt(inner) => inner,
            other => other,
        }
    }

    /// Whether `<` makes sense.
    pub fn is_ordered(&self) -> bool {
        self.is_number() || matches!(self, Type::Date | Type::Month)
    }

    /// Whether one can calculate with it.
    pub fn is_number(&self) -> bool {
        self.is_integer() || matches!(self, Type::Dec | Type::Qty(_))
    }

    /// Whether it is an integer.
    pub fn is_integer(&self) -> bool {
        matches!(self, Type::Int | Type::Range(..))
    }

    /// Whether its values are one word, number or text.
    pub fn is_scalar(&self) -> bool {
        !matches!(self.present(), Type::List(_) | Type::Rec(_) | Type::Fact(_) | Type::Wrong)
    }
}

impl Enums {
    /// The enumerations that every package knows.
    pub fn known() -> Self {
        let verdicts = Verdict::ALL.iter().map(|verdict| verdict.as_str().to_owned()).collect();
        let mut enums = Self(vec![Enum { name: "Verdict".to_owned(), tags: verdicts }]);
        for fact in FactType::ALL {
            enums.add_fields(fact.schema().fields);
        }
        enums
    }

    /// The enumeration of verdicts.
    pub const VERDICT: EnumId = EnumId(0);

    /// The enumeration of this name.
    pub fn find(&self, name: &str) -> Option<EnumId> {
        self.0.iter().position(|one| one.name == name).map(|index| EnumId(index as u32))
    }

    /// The enumeration itself.
    pub fn info(&self, id: EnumId) -> &Enum {
        &self.0[id.0 as usize]
    }

    /// The place of a word in its enumeration.
    pub fn tag(&self, id: EnumId, word: &str) -> Option<u16> {
        self.info(id).tags.iter().position(|tag| tag == word).map(|index| index as u16)
    }

    /// The word at a place.
    pub fn word(&self, id: EnumId, tag: u16) -> &str {
        &self.info(id).tags[usize::from(tag)]
    }

    /// All of them.
    pub fn all(&self) -> &[Enum] {
        &self.0
    }

    pub(super) fn add(&mut self, new: Enum) -> EnumId {
        self.0.push(new);
        EnumId(self.0.len() as u32 - 1)
    }

    /// The type of a field, `Opt` if the field is optional.
    pub fn field_type(&self, field: &Field) -> Type {
        let ty = self.value_type(&field.field_type);
        if field.required { ty } else { ty.or_none() }
    }

    /// The type of what a field holds.
    pub fn value_type(&self, field_type: &FieldType) -> Type {
        match field_type {
            FieldType::Bool => Type::Bool,
            FieldType::Int(..) => Type::Int,
            FieldType::Dec(_) => Type::Dec,
            FieldType::Qty(unit, _) => Type::Qty(*unit),
            FieldType::Date => Type::Date,
            FieldType::Month => Type::Month,
            FieldType::Text(_) => Type::Text,
            FieldType::Tag(set) => self.find(set.name).map_or(Type::Wrong, Type::Enum),
            FieldType::List(items) => Type::List(Box::new(self.value_type(items))),
            FieldType::Rec(fields) => {
                Type::Rec(fields.iter().map(|part| (part.name.to_owned(), self.field_type(part))).collect())
            }
        }
    }

    /// How a type is written.
    pub fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "Bool".to_owned(),
            Type::Int => "Int".to_owned(),
            Type::Range(first, last) => format!("Int[{first}..{last}]"),
            Type::Dec => "Dec".to_owned(),
            Type::Qty(unit) => format!("Qty[{unit}]"),
            Type::Date => "Date".to_owned(),
            Type::Month => "Month".to_owned(),
            Type::Text => "Text".to_owned(),
            Type::Enum(id) => self.info(*id).name.clone(),
            Type::Opt(inner) => format!("Opt[{}]", self.show(inner)),
            Type::List(inner) => format!("List[{}]", self.show(inner)),
            Type::Rec(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, ty)| format!("{name}: {}", self.show(ty))).collect();
                format!("Rec{{{}}}", fields.join(", "))
            }
            Type::Fact(fact) => fact.name().to_owned(),
            Type::Wrong => "?".to_owned(),
        }
    }

    fn add_fields(&mut self, fields: &[Field]) {
        for field in fields {
            self.add_set(&field.field_type);
        }
    }

    fn add_set(&mut self, field_type: &FieldType) {
        match field_type {
            FieldType::Tag(TagSet { name, tags }) if self.find(name).is_none() => {
                let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
                self.0.push(Enum { name: (*name).to_owned(), tags });
            }
            FieldType::List(items) => self.add_set(items),
            FieldType::Rec(fields) => self.add_fields(fields),
            _ => {}
        }
    }
}
